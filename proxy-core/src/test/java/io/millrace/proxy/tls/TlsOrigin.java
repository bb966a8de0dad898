package io.millrace.proxy.tls;

import io.millrace.proxy.tls.TestAuthority.Made;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;

/** An origin with TLS that answers each request with data about the connection, and then closes it. */
public final class TlsOrigin implements AutoCloseable {
    private static final char[] PASSWORD = new char[0];

    private final SSLServerSocket listening;
    private final AtomicInteger fullHandshakes = new AtomicInteger();
    private final AtomicInteger requests = new AtomicInteger();
    private volatile String report = "";

    /**
     * @param protocols all supported ones; none for the library's default
     */
    public TlsOrigin(TestAuthority authority, Made own, String... protocols) throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, PASSWORD);
        trusted.setCertificateEntry("root", authority.root());
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        TrustManager[] managers = trust.getTrustManagers();
        context.init(new KeyManager[] {new Keys(own)}, managers, null);
        listening = (SSLServerSocket)
                context.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        listening.setWantClientAuth(true);
        if (protocols.length > 0) {
            listening.setEnabledProtocols(protocols);
        }
        Thread thread = new Thread(this::accept, "tls-origin");
        thread.setDaemon(true);
        thread.start();
    }

    public int port() {
        return listening.getLocalPort();
    }

    /** Returns the number of handshakes that have chosen a certificate: all except resumed ones. */
    public int fullHandshakes() {
        return fullHandshakes.get();
    }

    public int requests() {
        return requests.get();
    }

    /** Returns the data about the connection of the last request; empty if there was none. */
    public String report() {
        return report;
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket accepted = listening.accept();
                Thread thread = new Thread(() -> serve((SSLSocket) accepted), "tls-origin-connection");
                thread.setDaemon(true);
                thread.start();
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(SSLSocket socket) {
        try (socket) {
            socket.setSoTimeout(20_000);
            InputStream in = socket.getInputStream();
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                int next = in.read();
                if (next < 0) {
                    return;
                }
                head.append((char) next);
            }
            ExtendedSSLSession session = (ExtendedSSLSession) socket.getSession();
            String name = session.getRequestedServerNames().isEmpty()
                    ? "none"
                    : new String(session.getRequestedServerNames().get(0).getEncoded(), StandardCharsets.US_ASCII);
            String text = "sni=" + name + " client=" + client(session) + " version=" + session.getProtocol();
            report = text;
            requests.incrementAndGet();
            OutputStream out = socket.getOutputStream();
            out.write(("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: "
                            + text.length() + "\r\n\r\n" + text)
                    .getBytes(StandardCharsets.US_ASCII));
            out.flush();
        } catch (IOException e) {
            // Some tests expect failed handshakes.
        }
    }

    private static String client(ExtendedSSLSession session) {
        try {
            return session.getPeerPrincipal().getName();
        } catch (SSLPeerUnverifiedException e) {
            return "none";
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
    }

    /** One certificate, and the number of its uses. */
    private final class Keys extends X509ExtendedKeyManager {
        private final Made own;

        Keys(Made own) {
            this.own = own;
        }

        private String chosen(String keyType) {
            if (!keyType.equals(own.keys().getPublic().getAlgorithm())) {
                return null;
            }
            fullHandshakes.incrementAndGet();
            return "own";
        }

        @Override
        public String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
            return chosen(keyType);
        }

        @Override
        public String chooseEngineServerAlias(String keyType, Principal[] issuers, SSLEngine engine) {
            return chosen(keyType);
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return own.chain().toArray(X509Certificate[]::new);
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return own.keys().getPrivate();
        }

        @Override
        public String[] getServerAliases(String keyType, Principal[] issuers) {
            return new String[] {"own"};
        }

        @Override
        public String[] getClientAliases(String keyType, Principal[] issuers) {
            return new String[0];
        }

        @Override
        public String chooseClientAlias(String[] keyTypes, Principal[] issuers, Socket socket) {
            return null;
        }
    }
}
