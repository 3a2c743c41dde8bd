package org.ldptrace.device;

import java.nio.charset.Charset;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Bytes as text and text as bytes. */
public final class Bytes {
    private static final Charset ASCII = Charset.forName("US-ASCII");
    private static final String DIGITS = "0123456789abcdef";

    private Bytes() {}

    /** The text in ASCII bytes, or null if some byte is not ASCII. */
    static String ascii(byte[] bytes) {
        for (byte one : bytes) {
            if (one < 0) {
                return null;
            }
        }
        return new String(bytes, ASCII);
    }

    /** Hexadecimal digits, lower case. */
    public static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder(2 * bytes.length);
        for (byte one : bytes) {
            text.append(DIGITS.charAt(one >> 4 & 15)).append(DIGITS.charAt(one & 15));
        }
        return text.toString();
    }

    /** The bytes of hexadecimal digits, lower case, or null if the text is none. */
    public static byte[] ofHex(String text) {
        byte[] bytes = new byte[text.length() / 2];
        for (int i = 0; i < text.length(); i++) {
            int digit = DIGITS.indexOf(text.charAt(i));
            if (digit < 0 || text.length() % 2 != 0) {
                return null;
            }
            bytes[i / 2] = (byte) (bytes[i / 2] << 4 | digit);
        }
        return bytes;
    }

    /** SHA-256 of an ASCII text, in hexadecimal. */
    static String sha256(String text) {
        try {
            return hex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(ASCII)));
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every Java platform has SHA-256", missing);
        }
    }

    /** The least number of bytes that hold an integer. */
    static int bytesFor(int value) {
        return (32 - Integer.numberOfLeadingZeros(value) + 7) / 8;
    }

    /** Numbers in this many bytes each, the highest byte first. */
    static byte[] bigEndian(int[] numbers, int size) {
        byte[] bytes = new byte[size * numbers.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (numbers[i / size] >> 8 * (size - 1 - i % size));
        }
        return bytes;
    }

    /** The numbers in these bytes. */
    static int[] ofBigEndian(byte[] bytes, int size) {
        int[] numbers = new int[bytes.length / size];
        for (int i = 0; i < bytes.length; i++) {
            numbers[i / size] = numbers[i / size] << 8 | bytes[i] & 0xff;
        }
        return numbers;
    }
}
