package org.ldptrace.device.cli;

import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.SAXParserFactory;
import org.ldptrace.device.Trajectory;
import org.xml.sax.Attributes;
import org.xml.sax.helpers.DefaultHandler;

/** GPX: every segment of every track is one trip. */
final class Gpx extends DefaultHandler {
    private static final String NO_DOCTYPE = "http://apache.org/xml/features/disallow-doctype-decl";

    private final List<Trajectory> trips = new ArrayList<>();
    private final StringBuilder text = new StringBuilder();
    private String namespace;
    private Trajectory trip = new Trajectory();
    private double x;
    private double y;
    private double time;
    private double last;
    private boolean inPoint;

    private Gpx() {}

    /** The trips in a document; an error if it is not well-formed, or declares a document type. */
    static List<Trajectory> read(byte[] document) throws Exception {
        Gpx reader = new Gpx();
        SAXParserFactory factory = SAXParserFactory.newInstance();
        factory.setNamespaceAware(true);
        factory.setFeature(NO_DOCTYPE, true);
        factory.newSAXParser().parse(new ByteArrayInputStream(document), reader);
        return reader.trips;
    }

    @Override
    public void startElement(String space, String name, String qualified, Attributes attributes) {
        namespace = namespace == null ? space : namespace;
        text.setLength(0);
        // Elements of extensions may have the same names.
        if (!space.equals(namespace)) {
            return;
        }
        if (name.equals("trkseg")) {
            trip = new Trajectory();
            last = Double.NaN;
        } else if (name.equals("trkpt")) {
            inPoint = true;
            x = coordinate(attributes.getValue("lon"));
            y = coordinate(attributes.getValue("lat"));
            time = Double.NaN;
        }
    }

    @Override
    public void characters(char[] letters, int start, int length) {
        text.append(letters, start, length);
    }

    @Override
    public void endElement(String space, String name, String qualified) {
        if (!space.equals(namespace)) {
            return;
        }
        if (name.equals("time") && inPoint) {
            time = Moments.ofText(text.toString());
        } else if (name.equals("trkpt")) {
            inPoint = false;
            last = time;
            trip.add(x, y, Moments.ownClock(time));
        } else if (name.equals("trkseg")) {
            trips.add(trip.arrived(last));
        }
    }

    private static double coordinate(String text) {
        try {
            return text == null ? Double.NaN : Double.parseDouble(text);
        } catch (NumberFormatException none) {
            return Double.NaN;
        }
    }
}
