package org.ldptrace.device;

/** Where random bytes come from. Reports use the system's secure source; other sources are for tests. */
public interface RandomBytes {
    /** The next bytes of the stream. */
    byte[] take(int count);
}
