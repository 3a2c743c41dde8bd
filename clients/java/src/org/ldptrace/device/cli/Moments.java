package org.ldptrace.device.cli;

import java.util.TimeZone;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Times as files have them. */
final class Moments {
    private static final Pattern ISO = Pattern.compile(
            "([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
                    + "(Z|[+-][0-9]{2}:?[0-9]{2})?");
    /** Numbers below this are times of a day without a date, on the device's own clock already. */
    private static final double UNDATED = 172800;

    /** Larger numbers are milliseconds. */
    private static final double LAST_SECONDS = 1e11;

    private Moments() {}

    /** Unix time of an ISO 8601 date, UTC where it names no zone; NaN for what is none. */
    static double ofText(String text) {
        Matcher found = ISO.matcher(text.trim());
        if (!found.matches()) {
            return Double.NaN;
        }
        long days = days(number(found, 1), number(found, 2), number(found, 3));
        long seconds = ((days * 24 + number(found, 4)) * 60 + number(found, 5)) * 60 + number(found, 6);
        String zone = found.group(8);
        if (zone != null && zone.length() > 1) {
            int minutes = 60 * Integer.parseInt(zone.substring(1, 3)) + Integer.parseInt(zone.substring(zone.length() - 2));
            seconds -= (zone.charAt(0) == '-' ? -60 : 60) * minutes;
        }
        return seconds + (found.group(7) == null ? 0 : Double.parseDouble("0." + found.group(7)));
    }

    /** Unix time of a value in a JSON document: a date, seconds or milliseconds; NaN for what is none. */
    static double ofValue(Object value) {
        if (value instanceof String) {
            return ofText((String) value);
        }
        double number = value instanceof Number ? ((Number) value).doubleValue() : Double.NaN;
        return Math.abs(number) >= LAST_SECONDS ? number / 1000 : number;
    }

    /** A Unix time as this device's own clock shows it. */
    static double ownClock(double unix) {
        if (!(Math.abs(unix) >= UNDATED && Math.abs(unix) < LAST_SECONDS)) {
            return unix;
        }
        return unix + TimeZone.getDefault().getOffset((long) (unix * 1000)) / 1000.0;
    }

    private static long number(Matcher found, int group) {
        return found.group(group) == null ? 0 : Long.parseLong(found.group(group));
    }

    /** Days from 1970-01-01 to a day of the Gregorian calendar; years are counted from March, so that leap days come last. */
    private static long days(long year, long month, long day) {
        long years = month > 2 ? year : year - 1;
        long monthsFromMarch = (month + 9) % 12;
        return 365 * years + years / 4 - years / 100 + years / 400 + (153 * monthsFromMarch + 2) / 5 + day - 1 - 719468;
    }
}
