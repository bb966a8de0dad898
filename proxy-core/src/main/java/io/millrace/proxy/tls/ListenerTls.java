package io.millrace.proxy.tls;

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
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * TLS of one listening address: chooses certificates for its connections.
 *
 * <p>Thread-safe.
 */
public final class ListenerTls {
    private final CertificateStore store;
    private final ServerContexts contexts;
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
     * Makes the handler that stands first in a connection's pipeline.
     *
     * @param told called on the event loop when a handshake ends
     * @return owned by the pipeline that it is added to
     */
    public ChannelHandler newHandler(ByteBufAllocator allocator, HandshakeListener told) {
        if (!choosesByName) {
            CertificateSet only = store.index().find(null);
            SslContext ready = only == null ? null : contexts.ready(only);
            if (ready != null) {
                try {
                    return watched(ready.newHandler(allocator), told);
                } finally {
                    ReferenceCountUtil.release(ready);
                }
            }
        }
        return new NameSelector(this, told);
    }

    static SslHandler watched(SslHandler handler, HandshakeListener told) {
        GenericFutureListener<Future<Object>> listener = handshake -> {
            if (handshake.isSuccess()) {
                told.succeeded(handler.engine().getSession().getProtocol());
            } else {
                told.failed(failure(handshake.cause()));
            }
        };
        handler.handshakeFuture().addListener(listener);
        return handler;
    }

    /** Sorts failures by what libraries say of them. */
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
        boolean common = text.contains("NO_SHARED")
                || text.contains("UNSUPPORTED_PROTOCOL")
                || text.contains("NO_COMMON")
                || text.contains("no cipher suites in common")
                || text.contains("is not enabled or supported");
        return common ? Failure.NOTHING_IN_COMMON : Failure.PROTOCOL;
    }

    /** The certificates for the name in a client's hello, null where it has none; null where there are none. */
    @Nullable
    CertificateSet find(@Nullable String name) {
        return store.index().find(name);
    }

    /** Whether there is a certificate for the name itself. */
    boolean hasExactly(String name) {
        return store.index().findExactly(name) != null;
    }

    /** Handshakes for automatic certificates; null where this address has certificates of its own. */
    @Nullable
    AutomaticCertificates automatic() {
        return automatic;
    }

    ServerContexts contexts() {
        return contexts;
    }
}
