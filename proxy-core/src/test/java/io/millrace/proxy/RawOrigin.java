package io.millrace.proxy;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** An origin whose requests a test's script answers byte by byte, with one thread per connection. */
final class RawOrigin implements AutoCloseable {
    /** Answers one request, after its head was read and before its content is read. */
    interface Script {
        void answer(Exchange exchange) throws Exception;
    }

    /** The origin's end of a connection. */
    record Exchange(int number, String head, Socket socket, RawInput in) {
        void send(String text) throws IOException {
            send(RawInput.latin1(text));
        }

        void send(byte[] bytes) throws IOException {
            OutputStream out = socket.getOutputStream();
            out.write(bytes);
            out.flush();
        }

        /** Sends 200 with these extra field lines, each with its CRLF, and content of a known length. */
        void ok(String fields, byte[] content) throws IOException {
            send("HTTP/1.1 200 OK\r\nContent-Length: " + content.length + "\r\n" + fields + "\r\n");
            send(content);
        }

        boolean has(String text) {
            return head.contains(text);
        }

        /** Waits until the other side ends the connection; discards bytes received before. */
        void awaitClose() throws IOException {
            try {
                in.readToEnd();
            } catch (SocketException e) {
                // A reset is an end too.
            }
        }

        void reset() throws IOException {
            socket.setSoLinger(true, 0);
            socket.close();
        }
    }

    private final ServerSocket listening;
    private final Script script;
    private final Thread acceptor;
    private final List<Thread> threads = new CopyOnWriteArrayList<>();
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final ConcurrentLinkedQueue<Throwable> problems = new ConcurrentLinkedQueue<>();
    private final AtomicInteger requests = new AtomicInteger();
    private volatile boolean closed;

    RawOrigin(Script script) throws IOException {
        this(script, 0);
    }

    /** Listens on the given port, such as that of an origin that was closed. */
    RawOrigin(Script script, int port) throws IOException {
        this(script, new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    /** Listens on the given address. */
    RawOrigin(Script script, InetSocketAddress address) throws IOException {
        this.script = script;
        listening = new ServerSocket();
        listening.setReuseAddress(true);
        listening.bind(address, 64);
        acceptor = start(this::accept, "origin-acceptor");
    }

    String url() {
        return "http://127.0.0.1:" + listening.getLocalPort();
    }

    int port() {
        return listening.getLocalPort();
    }

    /** Returns the number of requests whose head has arrived. */
    int requests() {
        return requests.get();
    }

    private void accept() {
        while (!closed) {
            try {
                Socket socket = listening.accept();
                socket.setTcpNoDelay(true);
                sockets.add(socket);
                start(() -> serve(socket), "origin-connection");
            } catch (IOException e) {
                return;
            }
        }
    }

    private Thread start(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
        return thread;
    }

    private void serve(Socket socket) {
        try (socket) {
            RawInput in = new RawInput(socket.getInputStream());
            String head;
            while ((head = in.readHead()) != null) {
                script.answer(new Exchange(requests.incrementAndGet(), head, socket, in));
                if (socket.isClosed()) {
                    return;
                }
            }
        } catch (SocketException e) {
            // The proxy may end any connection at any time.
        } catch (Throwable e) {
            if (!closed) {
                problems.add(e);
            }
        }
    }

    @Override
    public void close() throws IOException {
        closed = true;
        listening.close();
        for (Socket socket : sockets) {
            socket.close();
        }
        threads.forEach(Thread::interrupt);
        try {
            // A thread in accept keeps the port open.
            acceptor.join();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        if (!problems.isEmpty()) {
            throw new AssertionError("the origin's script failed", problems.peek());
        }
    }
}
