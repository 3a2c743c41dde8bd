package org.ldptrace.device;

import java.io.IOException;

/**
 * Where a ledger is kept. An app keeps it in its private folder, outside backups: a ledger that comes back from a backup has
 * forgotten what was said since.
 */
public interface Storage {
    /**
     * Reads the text that was kept last (null: none), and keeps what the change makes of it.
     *
     * <p>Nobody else reads or writes in between, another thread or process included, and the new text is on durable
     * storage when this returns. What cannot be read or written is an error, never an empty ledger.
     */
    void change(Change change) throws IOException, PlanRefused;

    /** A decision about the text. */
    interface Change {
        /** The text to keep, or null to leave everything as it is. */
        String of(String text) throws IOException, PlanRefused;
    }
}
