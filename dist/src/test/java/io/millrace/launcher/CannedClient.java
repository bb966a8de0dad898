package io.millrace.launcher;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sends requests to a canned worker, one connection per request. Immutable.
 *
 * @param port on loopback
 */
record CannedClient(int port) {
    private static final int TIMEOUT_MILLIS = 20_000;
    private static final Pattern ANSWER = Pattern.compile("worker (\\d+) for (\\S+) waiting (\\d+)\n");

    /**
     * The response of a canned worker.
     *
     * @param waiting slow requests that it has received so far
     */
    record Answer(long worker, String origin, int waiting) {}

    /** The outcome of a request. */
    enum Outcome {
        ANSWERED,
        REFUSED,
        CUT
    }

    Answer get(String path) {
        try {
            return request(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Outcome attempt(String path) {
        try {
            request(path);
            return Outcome.ANSWERED;
        } catch (ConnectException e) {
            return Outcome.REFUSED;
        } catch (IOException e) {
            return Outcome.CUT;
        }
    }

    private Answer request(String path) throws IOException {
        try (Socket socket = new Socket()) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MILLIS);
            String request = "GET " + path + " HTTP/1.1\r\nHost: www.example\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            Matcher matcher = ANSWER.matcher(answer);
            if (!answer.startsWith("HTTP/1.1 200") || !matcher.find()) {
                throw new IOException("no whole answer: " + answer);
            }
            return new Answer(Long.parseLong(matcher.group(1)), matcher.group(2), Integer.parseInt(matcher.group(3)));
        }
    }
}
