package org.ldptrace.device.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import org.ldptrace.device.Reporter;

/** Sends a report to a campaign, or to a shuffler. */
final class Http {
    private static final int PATIENCE = 30000;
    /** Bytes of a server's reason that are read. */
    private static final int REASON = 4096;

    private Http() {}

    /** Posts to the campaign, or to the shuffler of the plan; null if the report arrived, now or before, else the server's reason. */
    static String post(Reporter reporter, String campaign, byte[] report, String admission) throws IOException, Options.Misuse {
        if (campaign != null && !campaign.matches("https?://.+")) {
            throw new Options.Misuse("--url is the address of a campaign, https://host/v1/campaigns/NAME, got " + campaign);
        }
        URL address = new URL(reporter.destination(report, campaign));
        HttpURLConnection connection = (HttpURLConnection) address.openConnection();
        connection.setRequestMethod("POST");
        connection.setConnectTimeout(PATIENCE);
        connection.setReadTimeout(PATIENCE);
        connection.setDoOutput(true);
        connection.setInstanceFollowRedirects(false);
        connection.setRequestProperty("Content-Type", reporter.mediaType());
        if (admission != null) {
            connection.setRequestProperty("Ldptrace-Admission", admission);
        }
        try {
            OutputStream out = connection.getOutputStream();
            out.write(report);
            out.close();
            int status = connection.getResponseCode();
            if (status == 200) {
                return null;
            }
            String reason = beginning(connection.getErrorStream());
            return reporter.hasArrived(status, reason) ? null : status + " " + reason;
        } catch (IOException failed) {
            return failed.toString();
        } finally {
            connection.disconnect();
        }
    }

    private static String beginning(InputStream in) throws IOException {
        byte[] read = new byte[REASON];
        int length = 0;
        for (int count = 0; in != null && count >= 0 && length < REASON; count = in.read(read, length, REASON - length)) {
            length += count;
        }
        return new String(read, 0, length, Trips.UTF8);
    }
}
