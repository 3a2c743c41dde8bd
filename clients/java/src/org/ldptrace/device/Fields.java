package org.ldptrace.device;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

/** The fields of an object in a plan document, each checked as it is read. */
final class Fields {
    private final Map<String, Object> values;
    private final String where;

    private Fields(Map<String, Object> values, String where) {
        this.values = values;
        this.where = where;
    }

    static Fields of(Object value, String where) throws PlanRefused {
        if (!(value instanceof Map)) {
            throw PlanRefused.malformed(where + " must be an object");
        }
        return new Fields(Json.object(value), where);
    }

    /** Refuses other keys and missing ones. */
    Fields only(String... keys) throws PlanRefused {
        if (!values.keySet().equals(new HashSet<>(Arrays.asList(keys)))) {
            throw PlanRefused.malformed(where + " must have the keys " + Arrays.toString(keys) + ", not " + values.keySet());
        }
        return this;
    }

    Object value(String key) {
        return values.get(key);
    }

    boolean has(String key) {
        return values.containsKey(key);
    }

    int integer(String key, long low, long high) throws PlanRefused {
        return (int) whole(key, low, high);
    }

    long whole(String key, long low, long high) throws PlanRefused {
        Object value = value(key);
        if (!(value instanceof Long) || (Long) value < low || (Long) value > high) {
            throw wrong(key, "an integer from " + low + " to " + high);
        }
        return (Long) value;
    }

    String text(String key, String pattern) throws PlanRefused {
        return text(value(key), pattern, key);
    }

    String text(Object value, String pattern, String key) throws PlanRefused {
        if (!(value instanceof String) || !((String) value).matches(pattern)) {
            throw wrong(key, "a text like " + pattern);
        }
        return (String) value;
    }

    /** A text, or null where the document says so. */
    String textOrNull(String key, String pattern) throws PlanRefused {
        return value(key) == null ? null : text(key, pattern);
    }

    boolean truth(String key) throws PlanRefused {
        if (!(value(key) instanceof Boolean)) {
            throw wrong(key, "true or false");
        }
        return (Boolean) value(key);
    }

    List<Object> list(String key, int low, int high) throws PlanRefused {
        Object value = value(key);
        if (!(value instanceof List) || Json.list(value).size() < low || Json.list(value).size() > high) {
            throw wrong(key, "a list of " + low + " to " + high + " entries");
        }
        return Json.list(value);
    }

    PlanRefused wrong(String key, String allowed) {
        String given = String.valueOf(value(key));
        return PlanRefused.malformed(
                key + " of " + where + " must be " + allowed + ", got " + given.substring(0, Math.min(given.length(), 80)));
    }
}
