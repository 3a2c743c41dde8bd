package org.ldptrace.device.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import org.ldptrace.device.FileStorage;

/** Sends a report to a campaign. */
final class Http {
    private static final int PATIENCE = 30000;

    private Http() {}

    /** Posts to the campaign at this address; null if the report was counted, else the server's reason. */
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
            InputStream reason = connection.getErrorStream();
            return status + " " + (reason == null ? "" : new String(FileStorage.bytesOf(reason), Trips.UTF8));
        } catch (IOException failed) {
            return failed.toString();
        } finally {
            connection.disconnect();
        }
    }
}
