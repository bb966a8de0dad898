package io.millrace.proxy.tls;

import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientConnection.TlsNames;
import io.millrace.proxy.tls.HandshakeListener.Failure;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GenericFutureListener;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Locale;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * TLS of one listening address: selects the certificate for each of its connections.
 *
 * <p>Thread-safe.
 */
public final class ListenerTls implements TlsNames {
    private final CertificateStore store;
    private final ServerContexts contexts;
    /** False if the address has its own certificate, which all of its connections use. */
    private final boolean choosesByName;

    private final @Nullable AutomaticCertificates automatic;

    ListenerTls(
            CertificateStore store,
            ServerContexts contexts,
            boolean choosesByName,
            @Nullable AutomaticCertificates automatic) {
        this.store = store;
        this.contexts = contexts;
        this.choosesByName = choosesByName;
        this.automatic = automatic;
    }

    /**
     * Creates the first handler of a connection's pipeline.
     *
     * @param handshakes listener, called on the event loop at the end of a handshake
     * @return owned by the pipeline that it is added to
     */
    public ChannelHandler newHandler(ByteBufAllocator allocator, HandshakeListener handshakes) {
        if (!choosesByName) {
            CertificateSet only = store.index().find(null);
            SslContext ready = only == null ? null : contexts.ready(only);
            if (only != null && ready != null) {
                try {
                    return watched(contexts.newHandler(only, ready, allocator), handshakes, contexts.settings(), null);
                } finally {
                    ReferenceCountUtil.release(ready);
                }
            }
        }
        return new NameSelector(this, handshakes);
    }

    /**
     * Adds a listener for the end of the handshake to a TLS handler.
     *
     * @param settings the settings of the handler's TLS context
     * @param names settings of other names on the same address; null if there are none
     */
    static SslHandler watched(
            SslHandler handler, HandshakeListener handshakes, ServerTlsConfig settings, @Nullable TlsNames names) {
        GenericFutureListener<Future<Object>> listener = handshake -> {
            if (handshake.isSuccess()) {
                handshakes.succeeded(agreed(handler.engine(), settings, names));
            } else {
                handshakes.failed(failure(handshake.cause()));
            }
        };
        handler.handshakeFuture().addListener(listener);
        return handler;
    }

    private static ClientConnection.Tls agreed(SSLEngine engine, ServerTlsConfig settings, @Nullable TlsNames names) {
        SSLSession session = engine.getSession();
        boolean requestsCertificate = engine.getNeedClientAuth() || engine.getWantClientAuth();
        return new ClientConnection.Tls(
                session.getProtocol(),
                session.getCipherSuite(),
                serverName(session),
                requestsCertificate ? subject(session) : null,
                settings,
                names);
    }

    private static @Nullable String serverName(SSLSession session) {
        if (session instanceof ExtendedSSLSession extended) {
            for (SNIServerName name : extended.getRequestedServerNames()) {
                if (name instanceof SNIHostName host) {
                    return host.getAsciiName().toLowerCase(Locale.ROOT);
                }
            }
        }
        return null;
    }

    private static @Nullable String subject(SSLSession session) {
        try {
            return session.getPeerCertificates()[0] instanceof X509Certificate shown
                    ? SubjectText.of(shown.getSubjectX500Principal())
                    : null;
        } catch (SSLPeerUnverifiedException e) {
            // The client has sent no certificate, which is optional.
            return null;
        }
    }

    /** Classifies a failed handshake by the exception and its message. Both depend on the TLS library. */
    static Failure failure(Throwable cause) {
        String text = String.valueOf(cause.getMessage());
        if (cause instanceof SslHandshakeTimeoutException) {
            return Failure.TIMEOUT;
        }
        if (cause instanceof ClosedChannelException
                || (cause instanceof IOException && !(cause instanceof SSLException))) {
            return Failure.CLIENT;
        }
        Throwable deeper = cause.getCause();
        if (deeper instanceof CertificateException
                || text.contains("PEER_DID_NOT_RETURN_A_CERTIFICATE")
                || text.contains("CERTIFICATE_VERIFY_FAILED")
                || text.contains("Empty client certificate chain")) {
            return Failure.CLIENT_CERTIFICATE;
        }
        if (text.contains("ALERT_") || text.contains("Received fatal alert") || text.contains("closed")) {
            return Failure.CLIENT;
        }
        boolean nothingInCommon = text.contains("NO_SHARED")
                || text.contains("UNSUPPORTED_PROTOCOL")
                || text.contains("NO_COMMON")
                || text.contains("no cipher suites in common")
                || text.contains("is not enabled or supported");
        return nothingInCommon ? Failure.NOTHING_IN_COMMON : Failure.PROTOCOL;
    }

    /**
     * Returns the certificates for a client; null if there are none.
     *
     * @param name the server name in the ClientHello; null for none
     */
    @Nullable
    CertificateSet find(@Nullable String name) {
        return store.index().find(name);
    }

    /** Returns true if a certificate contains the name. Ignores the default certificate. */
    boolean hasExactly(String name) {
        return store.index().findExactly(name) != null;
    }

    /** Returns the handler of automatic certificates; null if this address has its own certificate. */
    @Nullable
    AutomaticCertificates automatic() {
        return automatic;
    }

    ServerContexts contexts() {
        return contexts;
    }

    @Override
    public @Nullable Object version() {
        CertificateIndex index = store.index();
        return index.isUniform() ? null : index;
    }

    /**
     * Returns the settings of a name. If no certificate contains the name, returns the settings of the default
     * certificate, or of the address if there is no default.
     */
    @Override
    public ServerTlsConfig settings(String host) {
        int end = host.endsWith(".") ? host.length() - 1 : host.length();
        CertificateSet found = store.index().find(host.substring(0, end));
        return found == null ? contexts.settings() : contexts.settings(found);
    }
}
