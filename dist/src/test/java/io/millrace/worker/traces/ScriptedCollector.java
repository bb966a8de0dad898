package io.millrace.worker.traces;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A server whose answers a test gives byte by byte. It answers one connection at a time, and each request with the next
 * script. Thread-safe.
 */
final class ScriptedCollector implements AutoCloseable {
    /** At the end of a script: closes the connection. */
    static final String CLOSE = "<close>";
    /** A script for a request that is never answered. */
    static final String SILENCE = "<silence>";
    /** A script that answers at the head of the request and does not read its content. */
    static final String EARLY = "<early>";

    private final ServerSocket server;
    private final BlockingQueue<String> scripts = new LinkedBlockingQueue<>();
    private final List<String> requests = new ArrayList<>();
    private final List<Socket> sockets = new ArrayList<>();
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

    ScriptedCollector() throws IOException {
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(this::accept, "scripted-collector");
        thread.setDaemon(true);
        thread.start();
    }

    URI url() {
        return URI.create("http://127.0.0.1:" + server.getLocalPort() + "/v1/traces");
    }

    /** Adds the answer of a further request. */
    void answer(String script) {
        scripts.add(script);
    }

    /** Waits until the server has read a request with the script {@link #SILENCE}, or has closed a connection. */
    void awaitEvent(String event) throws InterruptedException {
        while (!events.take().equals(event)) {}
    }

    /** The heads of all requests. */
    synchronized List<String> requests() {
        return List.copyOf(requests);
    }

    synchronized int connections() {
        return sockets.size();
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = server.accept();
                synchronized (this) {
                    sockets.add(socket);
                }
                serve(socket);
            }
        } catch (IOException | InterruptedException e) {
            // The test has ended.
        }
    }

    private void serve(Socket socket) throws InterruptedException {
        try (socket) {
            InputStream in = socket.getInputStream();
            for (String head = head(in); !head.isEmpty(); head = head(in)) {
                synchronized (this) {
                    requests.add(head);
                }
                String script = scripts.take();
                if (!script.startsWith(EARLY)) {
                    in.readNBytes(length(head));
                }
                if (script.equals(SILENCE)) {
                    events.add(SILENCE);
                    continue;
                }
                String text = script.replace(CLOSE, "").replace(EARLY, "");
                socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
                if (script.endsWith(CLOSE)) {
                    break;
                }
            }
        } catch (IOException e) {
            // The client has closed the connection.
        } finally {
            events.add(CLOSE);
        }
    }

    private static int length(String head) {
        String after = head.substring(head.toLowerCase(Locale.ROOT).indexOf("content-length: ") + 16);
        return Integer.parseInt(after.substring(0, after.indexOf('\r')));
    }

    private static String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int c = in.read();
            if (c < 0) {
                return "";
            }
            head.append((char) c);
        }
        return head.toString();
    }

    @Override
    public void close() throws IOException {
        server.close();
        synchronized (this) {
            for (Socket each : sockets) {
                each.close();
            }
        }
    }
}
