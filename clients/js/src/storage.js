// Where a ledger is kept: changes are made one after the other, whoever asks for them, and are kept before they are told.

const STORE = "texts";

/**
 * The browser's database, one for all tabs of an origin. A change reads, decides and writes in one transaction, and no
 * other tab gets in between. localStorage cannot do that, not even behind a lock: a tab reads a copy of its own, into
 * which the writes of other tabs come later.
 */
export class BrowserStorage {
  #asked = false;

  constructor({ name = "ldptrace" } = {}) {
    this.name = name;
  }

  /** Asks the browser never to clear this data by itself; whether it agreed. A ledger that is gone draws anew. */
  async persist() {
    this.#asked = true;
    try {
      return (await globalThis.navigator?.storage?.persist?.()) ?? false;
    } catch {
      return false;
    }
  }

  /** `work` gets the text under the key (null: none) and returns [text to keep, result]; undefined keeps what is there. */
  async change(key, work) {
    // Not waited for: some browsers ask the person first.
    if (!this.#asked) this.persist();
    const database = await this.#open();
    try {
      return await new Promise((resolve, reject) => {
        const transaction = database.transaction(STORE, "readwrite", { durability: "strict" });
        const texts = transaction.objectStore(STORE);
        const found = texts.get(key);
        let done;
        found.onsuccess = () => {
          try {
            const [text, result] = work(found.result ?? null);
            if (text !== undefined) texts.put(text, key);
            done = { result };
          } catch (error) {
            reject(error);
            transaction.abort();
          }
        };
        // Not before all of it is on the disk.
        transaction.oncomplete = () => resolve(done.result);
        transaction.onabort = () => reject(new Error(`the ledger cannot be written (${transaction.error})`));
      });
    } finally {
      database.close();
    }
  }

  #open() {
    return new Promise((resolve, reject) => {
      const opening = globalThis.indexedDB.open(this.name, 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(new Error(`the ledger cannot be opened (${opening.error})`));
    });
  }
}

/** The storage itself, or one with getItem and setItem made into one that changes: for a program that has it to itself. */
export function changing(storage) {
  if (typeof storage?.change === "function") return storage;
  if (typeof Storage !== "undefined" && storage instanceof Storage) {
    throw new Error("localStorage cannot keep two tabs from answering both; give a BrowserStorage");
  }
  return {
    // Nothing is waited for between reading and writing, so nothing else of this program runs in between.
    async change(key, work) {
      const [text, result] = work(storage.getItem(key) ?? null);
      if (text !== undefined) storage.setItem(key, text);
      return result;
    },
  };
}
