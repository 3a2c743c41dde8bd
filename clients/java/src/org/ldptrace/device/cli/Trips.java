package org.ldptrace.device.cli;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.ldptrace.device.FileStorage;
import org.ldptrace.device.Trajectory;

/** The trips of files. What a file's points are is never an error: silence would tell. */
final class Trips {
    static final String WGS84 = "EPSG:4326";
    static final Charset UTF8 = Charset.forName("UTF-8");

    final List<Trajectory> trips = new ArrayList<>();
    /** The coordinates that all files name; null if they name none, or different ones. */
    String crs;

    /** Reads files by the ends of their names: .gpx, .geojson or .json. */
    Trips(List<String> names) throws IOException, Options.Misuse {
        for (int i = 0; i < names.size(); i++) {
            String found = add(new File(names.get(i)));
            crs = i == 0 || crs != null && crs.equals(found) ? found : null;
        }
    }

    private String add(File file) throws IOException, Options.Misuse {
        String name = file.getName().toLowerCase(Locale.ROOT);
        boolean gpx = name.endsWith(".gpx");
        if (!gpx && !name.endsWith(".json") && !name.endsWith(".geojson")) {
            throw new Options.Misuse("a trajectory is a file .gpx, .geojson or .json, got " + file);
        }
        byte[] bytes = bytesOf(file);
        String text = gpx ? "" : new String(bytes, UTF8);
        try {
            trips.addAll(gpx ? Gpx.read(bytes) : GeoJson.read(text));
        } catch (Exception broken) {
            // What cannot be read as points has none, and is answered like every other trajectory.
            System.err.println(file + ": nothing in it can be read as points");
        }
        return gpx ? WGS84 : GeoJson.crs(text);
    }

    static byte[] bytesOf(File file) throws IOException {
        InputStream in = new FileInputStream(file);
        try {
            return FileStorage.bytesOf(in);
        } finally {
            in.close();
        }
    }
}
