// Pages that are opened from disk may not start workers, and the search is one. Here a worker is a hidden frame that runs
// the same script. (The theme's offline plugin loads such a script from elsewhere, unless one with this name is given.)
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.frame = frame;
      const inside = frame.contentWindow;
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      const load = (source) =>
        new Promise((done, failed) => {
          const script = inside.document.createElement("script");
          script.src = source;
          script.onload = done;
          script.onerror = failed;
          inside.document.body.appendChild(script);
        });
      inside.importScripts = (...sources) =>
        sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      this.ready = load(new URL(url, location.href).href);
    }

    postMessage(data) {
      this.ready.then(() =>
        this.frame.contentWindow.dispatchEvent(new this.frame.contentWindow.MessageEvent("message", { data }))
      );
    }

    terminate() {
      this.frame.remove();
    }
  };
}
