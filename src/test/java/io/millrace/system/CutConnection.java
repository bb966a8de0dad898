package io.millrace.system;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Forwards TCP connections to a port of this machine. Like a network, it can lose the connections at once, or deliver
 * nothing while both ends keep them. Thread-safe: two threads per connection.
 */
final class CutConnection implements AutoCloseable {
    private static final int BUFFER = 64 << 10;

    private final int target;
    private final ServerSocket server;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    /** Guarded by the lock. */
    private boolean delivers = true;

    CutConnection(int target) throws IOException {
        this.target = target;
        server = new ServerSocket();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "cut-connection");
        thread.setDaemon(true);
        thread.start();
    }

    /** Delivers nothing from now on, or everything that has waited. */
    void deliver(boolean on) {
        lock.lock();
        try {
            delivers = on;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Closes all connections. */
    void reset() {
        open.forEach(CutConnection::closeQuietly);
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket from = server.accept();
                open.add(from);
                start(() -> connect(from));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void connect(Socket from) {
        try {
            awaitDelivery();
            Socket to = new Socket(InetAddress.getLoopbackAddress(), target);
            open.add(to);
            start(() -> copy(from, to));
            copy(to, from);
        } catch (IOException e) {
            closeQuietly(from);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            open.remove(from);
        }
    }

    private void awaitDelivery() throws InterruptedException {
        lock.lock();
        try {
            while (!delivers) {
                changed.await();
            }
        } finally {
            lock.unlock();
        }
    }

    private void copy(Socket from, Socket to) {
        byte[] buffer = new byte[BUFFER];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                awaitDelivery();
                out.write(buffer, 0, count);
            }
        } catch (IOException e) {
            // One end has closed the connection, so that both are closed.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            open.remove(from);
            open.remove(to);
        }
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // Nothing is left to close.
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        deliver(true);
        reset();
    }
}
