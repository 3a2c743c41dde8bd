package org.ldptrace.device.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.ldptrace.device.Json;
import org.ldptrace.device.Trajectory;

/** GeoJSON: every line is one trip; its times are a property of the feature, or the fourth value of each point. */
final class GeoJson {
    private static final String[] TIMES = {"times", "coordTimes", "datetimes"};

    private final List<Trajectory> trips = new ArrayList<>();

    private GeoJson() {}

    /** The trips in a document; an error if it is no JSON. */
    static List<Trajectory> read(String document) throws Json.Malformed {
        GeoJson reader = new GeoJson();
        Object value = Json.parse(document);
        for (Object feature : listed(field(value, "features"))) {
            reader.feature(feature);
        }
        reader.feature(value);
        return reader.trips;
    }

    /**
     * The coordinates that a document names: WGS84, unless a member `crs` of its own (GeoJSON of 2008) says otherwise; null
     * where that says nothing. It does not depend on any point.
     */
    static String crs(String document) {
        try {
            Object value = Json.parse(document);
            if (!(value instanceof Map) || !((Map<?, ?>) value).containsKey("crs")) {
                return Trips.WGS84;
            }
            Object name = field(field(field(value, "crs"), "properties"), "name");
            String text = name instanceof String ? (String) name : "";
            String found = text.contains("CRS84") ? Trips.WGS84 : text.replace("urn:ogc:def:crs:", "").replace("::", ":");
            return found.isEmpty() ? null : found;
        } catch (Json.Malformed broken) {
            return Trips.WGS84;
        }
    }

    private void feature(Object feature) {
        Object geometry = field(feature, "geometry") == null ? feature : field(feature, "geometry");
        Object times = null;
        for (String name : TIMES) {
            times = times == null ? field(field(feature, "properties"), name) : times;
        }
        Object kind = field(geometry, "type");
        Object coordinates = field(geometry, "coordinates");
        if ("LineString".equals(kind)) {
            line(listed(coordinates), listed(times));
        } else if ("MultiLineString".equals(kind)) {
            List<?> lines = listed(coordinates);
            for (int i = 0; i < lines.size(); i++) {
                line(listed(lines.get(i)), i < listed(times).size() ? listed(listed(times).get(i)) : listed(null));
            }
        } else if ("Point".equals(kind)) {
            List<Object> one = new ArrayList<>();
            one.add(coordinates);
            line(one, listed(times));
        }
    }

    private void line(List<?> points, List<?> times) {
        Trajectory trip = new Trajectory();
        double last = Double.NaN;
        for (int i = 0; i < points.size(); i++) {
            List<?> point = listed(points.get(i));
            Object time = times.size() == points.size() ? times.get(i) : value(point, 3);
            last = Moments.ofValue(time);
            trip.add(number(value(point, 0)), number(value(point, 1)), Moments.ownClock(last));
        }
        trips.add(trip.arrived(last));
    }

    private static Object field(Object value, String name) {
        return value instanceof Map ? ((Map<?, ?>) value).get(name) : null;
    }

    private static List<?> listed(Object value) {
        return value instanceof List ? (List<?>) value : new ArrayList<Object>();
    }

    private static Object value(List<?> list, int place) {
        return place < list.size() ? list.get(place) : null;
    }

    private static double number(Object value) {
        return value instanceof Number ? ((Number) value).doubleValue() : Double.NaN;
    }
}
