package org.ldptrace.device.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import org.ldptrace.device.Problem;

/** Sends a report to a campaign. */
final class Http {
    private static final int PATIENCE = 30000;
    /** Bytes of a server's reason that are read. */
    private static final int REASON = 4096;

    private Http() {}

    /** Posts to the campaign at this address; null if the report was counted, now or before, else the server's reason. */
    static String post(String url, byte[] report, String admission) throws IOException, Options.Misuse {
        if (!url.matches("https?://.+")) {
            throw new Options.Misuse("--url is the address of a campaign, https://host/v1/campaigns/NAME, got " + url);
        }
        URL address = new URL(url.endsWith("/reports") ? url : url.replaceAll("/+$", "") + "/reports");
        HttpURLConnection connection = (HttpURLConnection) address.openConnection();
        connection.setRequestMethod("POST");
        connection.setConnectTimeout(PATIENCE);
        connection.setReadTimeout(PATIENCE);
        connection.setDoOutput(true);
        connection.setInstanceFollowRedirects(false);
        connection.setRequestProperty("Content-Type", "application/vnd.ldptrace.reports");
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
            // A report that was counted before has arrived.
            boolean before = status == 409 && reason.contains("urn:ldptrace:problem:" + Problem.DUPLICATE.code);
            return before ? null : status + " " + reason;
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
