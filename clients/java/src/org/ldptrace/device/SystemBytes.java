package org.ldptrace.device;

import java.security.SecureRandom;
import java.util.Arrays;

/** Bytes of the system's secure source, read ahead a little. One object serves one report and is thrown away with it. */
final class SystemBytes implements RandomBytes {
    private static final int AHEAD = 512;

    private final SecureRandom system = new SecureRandom();
    private byte[] data = new byte[0];
    private int position;

    @Override
    public byte[] take(int count) {
        int left = data.length - position;
        if (left < count) {
            byte[] fresh = new byte[Math.max(count - left, AHEAD)];
            system.nextBytes(fresh);
            byte[] joined = Arrays.copyOf(Arrays.copyOfRange(data, position, data.length), left + fresh.length);
            System.arraycopy(fresh, 0, joined, left, fresh.length);
            data = joined;
            position = 0;
        }
        position += count;
        return Arrays.copyOfRange(data, position - count, position);
    }
}
