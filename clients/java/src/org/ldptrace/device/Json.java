package org.ldptrace.device;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * JSON documents: any of them to read (RFC 8259), canonical ones to write (section 2 of the protocol).
 *
 * <p>Values are {@code Map<String, Object>}, {@code List<Object>}, {@code String}, {@code Boolean}, {@code null},
 * {@code Long} for integers of at most 18 digits and {@code Double} for all other numbers.
 */
public final class Json {
    private static final int MOST_DEPTH = 16;
    private static final int MOST_DEPTH_OF_ANY = 512;
    static final long MOST_INTEGER = (1L << 53) - 1;
    private static final String ESCAPED = "\"\\\b\f\n\r\t";
    private static final String ESCAPES = "\"\\bfnrt";

    private final String text;
    private int at;
    private int depth;

    private Json(String text) {
        this.text = text;
    }

    /** Why a text is no document. */
    public static final class Malformed extends Exception {
        private static final long serialVersionUID = 1L;

        Malformed(String message) {
            super(message);
        }
    }

    /** The value in any JSON text. A key that comes twice has its last value. */
    public static Object parse(String text) throws Malformed {
        Json reader = new Json(text);
        Object value = reader.value();
        reader.blanks();
        if (reader.at < text.length()) {
            throw reader.malformed("the end");
        }
        return value;
    }

    /** The value in these bytes; refused unless they are canonical. */
    public static Object parseCanonical(byte[] bytes) throws Malformed {
        String text = Bytes.ascii(bytes);
        if (text == null || text.indexOf('\\') >= 0 || depth(text) > MOST_DEPTH) {
            throw new Malformed("the document is not ASCII, has an escape or is nested more than " + MOST_DEPTH + " deep");
        }
        Object value = parse(text);
        if (!write(value).equals(text)) {
            throw new Malformed("the document is not canonical: keys sorted, no spaces, no repeated keys, plain integers");
        }
        return value;
    }

    /** The canonical text of a value. */
    public static String write(Object value) throws Malformed {
        StringBuilder out = new StringBuilder();
        append(value, out);
        return out.toString();
    }

    private static void append(Object value, StringBuilder out) throws Malformed {
        if (value instanceof Map) {
            Map<String, Object> sorted = new TreeMap<>(object(value));
            char before = '{';
            for (Map.Entry<String, Object> entry : sorted.entrySet()) {
                out.append(before);
                appendText(entry.getKey(), out);
                append(entry.getValue(), out.append(':'));
                before = ',';
            }
            out.append(sorted.isEmpty() ? "{}" : "}");
        } else if (value instanceof List) {
            char before = '[';
            for (Object entry : list(value)) {
                append(entry, out.append(before));
                before = ',';
            }
            out.append(list(value).isEmpty() ? "[]" : "]");
        } else if (value instanceof String) {
            appendText((String) value, out);
        } else if (value instanceof Double || value instanceof Long && Math.abs((Long) value) > MOST_INTEGER) {
            throw new Malformed("the number " + value + " is not an integer below 2^53");
        } else {
            out.append(value);
        }
    }

    private static void appendText(String text, StringBuilder out) {
        out.append('"');
        for (char letter : text.toCharArray()) {
            int escape = ESCAPED.indexOf(letter);
            if (escape >= 0) {
                out.append('\\').append(ESCAPES.charAt(escape));
            } else if (letter < 32 || letter > 126) {
                out.append("\\u").append(Integer.toHexString(letter + 0x10000).substring(1));
            } else {
                out.append(letter);
            }
        }
        out.append('"');
    }

    /** How deep brackets are nested; those inside strings count too, no document of the protocol has any. */
    private static int depth(String text) {
        int depth = 0;
        int deepest = 0;
        for (int i = 0; i < text.length(); i++) {
            char letter = text.charAt(i);
            if (letter == '[' || letter == '{') {
                deepest = Math.max(deepest, ++depth);
            } else if (letter == ']' || letter == '}') {
                depth--;
            }
        }
        return deepest;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object value) {
        return (List<Object>) value;
    }

    private Object value() throws Malformed {
        blanks();
        switch (peek()) {
            case '{':
                return members();
            case '[':
                return entries();
            case '"':
                return string();
            case 't':
                return word("true", true);
            case 'f':
                return word("false", false);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> members() throws Malformed {
        Map<String, Object> members = new LinkedHashMap<>();
        enter();
        if (!closes('}')) {
            do {
                blanks();
                String key = string();
                blanks();
                expect(':');
                members.put(key, value());
                blanks();
            } while (more('}'));
        }
        depth--;
        return members;
    }

    private List<Object> entries() throws Malformed {
        List<Object> entries = new ArrayList<>();
        enter();
        if (!closes(']')) {
            do {
                entries.add(value());
                blanks();
            } while (more(']'));
        }
        depth--;
        return entries;
    }

    private void enter() throws Malformed {
        at++;
        if (++depth > MOST_DEPTH_OF_ANY) {
            throw malformed("less nesting");
        }
    }

    private boolean closes(char end) throws Malformed {
        blanks();
        if (peek() != end) {
            return false;
        }
        at++;
        return true;
    }

    /** Whether a comma follows, or else the end. */
    private boolean more(char end) throws Malformed {
        if (peek() == ',') {
            at++;
            return true;
        }
        expect(end);
        return false;
    }

    private String string() throws Malformed {
        expect('"');
        StringBuilder found = new StringBuilder();
        while (peek() != '"') {
            char letter = text.charAt(at++);
            if (letter < 32) {
                throw malformed("no control character");
            }
            found.append(letter == '\\' ? escaped() : letter);
        }
        at++;
        return found.toString();
    }

    private char escaped() throws Malformed {
        char letter = peek();
        at++;
        if (letter == 'u') {
            String digits = text.substring(at, Math.min(at + 4, text.length()));
            if (!digits.matches("[0-9a-fA-F]{4}")) {
                throw malformed("four hexadecimal digits");
            }
            at += 4;
            return (char) Integer.parseInt(digits, 16);
        }
        int escape = ESCAPES.indexOf(letter);
        if (escape < 0 && letter != '/') {
            throw malformed("an escape");
        }
        return letter == '/' ? letter : ESCAPED.charAt(escape);
    }

    private Object word(String word, Object value) throws Malformed {
        if (!text.startsWith(word, at)) {
            throw malformed(word);
        }
        at += word.length();
        return value;
    }

    private Object number() throws Malformed {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String digits = text.substring(start, at);
        if (digits.matches("-?(0|[1-9][0-9]{0,17})")) {
            // Minus zero is a double; as an integer it would be written as 0, which is another text.
            return digits.equals("-0") ? (Object) (-0.0) : (Object) Long.parseLong(digits);
        }
        if (!digits.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?")) {
            at = start;
            throw malformed("a value");
        }
        return Double.parseDouble(digits);
    }

    private void blanks() {
        while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private void expect(char wanted) throws Malformed {
        if (peek() != wanted) {
            throw malformed("'" + wanted + "'");
        }
        at++;
    }

    private char peek() throws Malformed {
        if (at >= text.length()) {
            throw malformed("more");
        }
        return text.charAt(at);
    }

    private Malformed malformed(String expected) {
        return new Malformed("this is no JSON document: expected " + expected + " at character " + at);
    }

    /** Whether this is the shortest decimal of a double, written without exponent. */
    static boolean isDecimal(String text) {
        if (text.length() > 40 || !text.matches("-?(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?") || text.equals("-0")) {
            return false;
        }
        double value = Double.parseDouble(text);
        BigDecimal exact = new BigDecimal(value);
        BigDecimal given = new BigDecimal(text).stripTrailingZeros();
        int digits = given.precision();
        return Decimals.rounded(exact, digits).compareTo(given) == 0
                && (digits == 1 || !Decimals.readsBack(exact, digits - 1, value));
    }
}
