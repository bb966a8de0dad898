package io.millrace.proxy.observe.log.target;

import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/** A syslog receiver on a real socket, which collects messages. */
public final class FakeSyslog implements AutoCloseable {
    private static final long WAIT_SECONDS = 30;

    private final LinkedBlockingQueue<String> messages = new LinkedBlockingQueue<>();
    private final List<Socket> connections = new CopyOnWriteArrayList<>();
    private final Closeable socket;
    private final String address;
    private volatile String peer = "";

    private FakeSyslog(Closeable socket, String address) {
        this.socket = socket;
        this.address = address;
    }

    /** Starts a receiver of datagrams. */
    public static FakeSyslog udp() throws IOException {
        DatagramSocket socket = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        FakeSyslog fake = new FakeSyslog(socket, "udp://127.0.0.1:" + socket.getLocalPort());
        fake.run(() -> {
            byte[] bytes = new byte[65_536];
            while (true) {
                DatagramPacket packet = new DatagramPacket(bytes, bytes.length);
                socket.receive(packet);
                fake.messages.add(new String(bytes, 0, packet.getLength(), StandardCharsets.ISO_8859_1));
            }
        });
        return fake;
    }

    /** Starts a receiver of connections; port 0 for any. */
    public static FakeSyslog tcp(int port) throws IOException {
        ServerSocket server = new ServerSocket();
        server.setReuseAddress(true);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return accepting(server, "tcp://127.0.0.1:" + server.getLocalPort());
    }

    /** Starts a receiver with TLS for the name localhost, which asks clients for a certificate. */
    public static FakeSyslog tls(TestAuthority authority) throws IOException, GeneralSecurityException {
        Made site = authority.issue("localhost");
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        keys.setKeyEntry(
                "site", site.keys().getPrivate(), new char[0], site.chain().toArray(new X509Certificate[0]));
        keys.setCertificateEntry("root", authority.root());
        KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(keys, new char[0]);
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(keys);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
        SSLServerSocket server = (SSLServerSocket)
                context.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        server.setWantClientAuth(true);
        return accepting(server, "tls://localhost:" + server.getLocalPort());
    }

    private static FakeSyslog accepting(ServerSocket server, String address) {
        FakeSyslog fake = new FakeSyslog(server, address);
        fake.run(() -> {
            while (true) {
                Socket connection = server.accept();
                fake.connections.add(connection);
                fake.run(() -> fake.read(connection));
            }
        });
        return fake;
    }

    /** Work that ends with an exception when a socket is closed. */
    private interface Work {
        void run() throws IOException;
    }

    private void run(Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException e) {
                        // The socket was closed, or TLS was refused.
                    }
                },
                "fake-syslog");
        thread.setDaemon(true);
        thread.start();
    }

    /** Reads frames with octet counting. */
    private void read(Socket connection) throws IOException {
        if (connection instanceof SSLSocket secure) {
            secure.startHandshake();
            try {
                peer = secure.getSession().getPeerPrincipal().getName();
            } catch (SSLPeerUnverifiedException e) {
                peer = "nobody";
            }
        }
        InputStream in = connection.getInputStream();
        while (true) {
            int length = 0;
            for (int c = in.read(); c != ' '; c = in.read()) {
                if (c < '0' || c > '9') {
                    throw new EOFException("not a length: " + c);
                }
                length = 10 * length + c - '0';
            }
            byte[] message = in.readNBytes(length);
            messages.add(new String(message, StandardCharsets.ISO_8859_1));
        }
    }

    /** The address as in the configuration. */
    public String address() {
        return address;
    }

    /** The port. */
    public int port() {
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    /** The subject of the last client's certificate; {@code nobody} without one. */
    public String peer() {
        return peer;
    }

    /** The connections that were accepted. */
    public List<Socket> connections() {
        return connections;
    }

    /** Waits for the next message. */
    public String next() throws InterruptedException {
        String message = messages.poll(WAIT_SECONDS, TimeUnit.SECONDS);
        if (message == null) {
            throw new AssertionError("no message at " + address);
        }
        return message;
    }

    /** Returns the next message if there is one now, else null. */
    public String poll() {
        return messages.poll();
    }

    /** Closes the socket and all connections. */
    @Override
    public void close() throws IOException {
        socket.close();
        for (Socket connection : connections) {
            connection.close();
        }
    }
}
