package io.millrace.cli.warm;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** A proxy whose response to each request a test specifies; it keeps connections open. Must be closed. */
public final class ScriptedProxy implements AutoCloseable {
    private final ServerSocket listening;
    private final Function<String, String> answers;
    private final List<String> requests = Collections.synchronizedList(new ArrayList<>());
    private final List<Socket> open = Collections.synchronizedList(new ArrayList<>());

    /** @param answers a complete response for the URL of a request; empty to close the connection */
    public ScriptedProxy(Function<String, String> answers) throws IOException {
        this.answers = answers;
        this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(this::accept, "scripted-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns a response with content and fields. */
    public static String response(int status, String fields, String body) {
        return "HTTP/1.1 " + status + " Word\r\n" + fields + "Content-Length: "
                + body.getBytes(StandardCharsets.UTF_8).length + "\r\n\r\n" + body;
    }

    /** Returns a proxy with these responses; 404 without Cache-Status for other URLs. */
    public static ScriptedProxy of(Map<String, String> responses) throws IOException {
        return new ScriptedProxy(url -> responses.getOrDefault(url, response(404, "", "no rule")));
    }

    public int port() {
        return listening.getLocalPort();
    }

    public Endpoint endpoint() {
        return new Endpoint(new InetSocketAddress(InetAddress.getLoopbackAddress(), port()), false);
    }

    /** Returns the heads of the requests so far. */
    public List<String> requests() {
        synchronized (requests) {
            return List.copyOf(requests);
        }
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket socket = listening.accept();
                open.add(socket);
                Thread thread = new Thread(() -> serve(socket), "scripted-connection");
                thread.setDaemon(true);
                thread.start();
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            OutputStream out = socket.getOutputStream();
            StringBuilder head = new StringBuilder();
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                head.append(line).append('\n');
                if (!line.isEmpty()) {
                    continue;
                }
                String request = head.toString();
                head.setLength(0);
                requests.add(request);
                int host = request.indexOf("Host: ") + 6;
                String url = "http://" + request.substring(host, request.indexOf('\n', host))
                        + request.substring(4, request.indexOf(" HTTP/1.1"));
                String answer = answers.apply(url);
                if (answer.isEmpty()) {
                    return;
                }
                out.write(answer.getBytes(StandardCharsets.UTF_8));
            }
        } catch (IOException e) {
            // The client has disconnected, or the test is over.
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
        synchronized (open) {
            for (Socket socket : open) {
                socket.close();
            }
        }
    }
}
