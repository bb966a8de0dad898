package io.millrace.proxy.fetch;

import io.millrace.proxy.config.origins.OriginConfig;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What to send where: one request without its content.
 *
 * <p>The caller gives the end-to-end fields, Host and Via among them. Connection, Transfer-Encoding and Content-Length are this package's: they follow from {@link
 * #hasContent()} and {@link #contentLength()}, and lines of those names in {@link #fields()} are not sent.
 *
 * <p>Immutable.
 */
public final class OriginRequest {

    private static final long NO_CONTENT = -2;
    private static final long CHUNKED = -1;

    private final Origin origin;
    private final String tlsName;
    private final OriginTlsConfig tls;
    private final String methodName;
    private final Method method;
    private final byte[] target;
    private final FieldSection fields;
    private final long contentLength;
    private final FetchSettings settings;
    private final @Nullable String upgrade;
    private final @Nullable AddressCheck addresses;
    private final boolean tunnel;
    private final byte @Nullable [] preface;
    private final OriginConfig.Http2 http2;
    private final boolean trailersWanted;

    private OriginRequest(Builder builder) {
        origin = builder.origin;
        tlsName = builder.tlsName == null ? origin.host() : builder.tlsName;
        tls = builder.tls;
        methodName = builder.methodName;
        method = Method.of(methodName);
        target = builder.target;
        fields = Objects.requireNonNull(builder.fields, "fields");
        contentLength = builder.contentLength;
        settings = builder.settings;
        upgrade = builder.upgrade;
        addresses = builder.addresses;
        tunnel = builder.tunnel;
        preface = builder.preface;
        http2 = builder.http2;
        trailersWanted = builder.trailersWanted;
    }

    /** Starts a request: {@code GET /} without content and with default settings until told otherwise. */
    public static Builder to(Origin origin) {
        return new Builder(origin);
    }

    /**
     * A connection for a tunnel: nothing is sent on it, and {@link OriginResponseHandler#onSwitched} gets it with a head of the status 200.
     *
     * @param check which addresses it may go to
     */
    public static OriginRequest tunnel(Origin origin, FetchSettings settings, AddressCheck check) {
        Builder builder = new Builder(origin)
                .fields(FieldSection.EMPTY)
                .settings(settings)
                .addresses(check);
        builder.tunnel = true;
        return builder.build();
    }

    /**
     * CONNECT, sent to a proxy (RFC 9110 s9.3.6). {@link OriginResponseHandler#onSwitched} gets the connection once the proxy has
     * answered with a status of 2xx; any other answer is an ordinary response.
     *
     * @param proxy the proxy that is asked
     * @param authority host and port of the destination
     * @param fields the end-to-end fields, Host and Via among them
     * @param tls TLS settings, for a proxy that speaks TLS
     */
    public static OriginRequest connect(
            Origin proxy, String authority, FieldSection fields, FetchSettings settings, OriginTlsConfig tls) {
        Builder builder = new Builder(proxy)
                .target(authority)
                .fields(fields)
                .settings(settings)
                .tls(tls);
        builder.methodName = Method.CONNECT.name();
        return builder.build();
    }

    /** Where it goes. */
    public Origin origin() {
        return origin;
    }

    /** The name asked for in the TLS handshake and expected in the certificate: the origin's host unless another was given. */
    public String tlsName() {
        return tlsName;
    }

    /** TLS settings, for an {@code https} origin. */
    OriginTlsConfig tls() {
        return tls;
    }

    /** The method as it is sent. */
    public String methodName() {
        return methodName;
    }

    /** The method, for its properties. */
    public Method method() {
        return method;
    }

    /** The fields, without those of framing. */
    public FieldSection fields() {
        return fields;
    }

    /** Whether content follows; a content of length 0 counts. */
    public boolean hasContent() {
        return contentLength != NO_CONTENT;
    }

    /** Bytes of content: 0 when there is none, -1 when it is sent in chunks. */
    public long contentLength() {
        return contentLength == NO_CONTENT ? 0 : contentLength;
    }

    /** Deadlines and limits. */
    public FetchSettings settings() {
        return settings;
    }

    /** The protocols that the connection may switch to, as Upgrade has them (RFC 9110 s7.8); null for none. */
    public @Nullable String upgrade() {
        return upgrade;
    }

    /** Which addresses it may go to; null for all. */
    @Nullable
    AddressCheck addresses() {
        return addresses;
    }

    /** Whether nothing is sent: the connection is handed over as soon as it stands. */
    boolean isTunnel() {
        return tunnel;
    }

    /** Whether it asks a proxy for a tunnel. */
    boolean isConnect() {
        return method == Method.CONNECT;
    }

    /** Whether its connection is a tunnel, or is one as soon as the origin agrees to an upgrade. */
    boolean mayBecomeTunnel() {
        return tunnel || upgrade != null;
    }

    /** Whether its connection may serve no other request: it may leave HTTP, or it begins with a client's address. */
    boolean isAlone() {
        return tunnel || upgrade != null || preface != null || isConnect();
    }

    /** Whether the origin is told that trailers reach the client: {@code TE: trailers} (RFC 9110 s10.1.4). */
    boolean isTrailersWanted() {
        return trailersWanted;
    }

    /** What begins the connection, before TLS; null for nothing. Borrowed: not to be written to. */
    byte @Nullable [] preface() {
        return preface;
    }

    /** Whether HTTP/2 is spoken; never for a request whose connection may serve no other. */
    OriginConfig.Http2 http2() {
        boolean chosen = http2 == OriginConfig.Http2.ALPN && !origin.isSecure();
        return chosen || isAlone() ? OriginConfig.Http2.OFF : http2;
    }

    /** The request target as it is sent. Borrowed: not to be written to. */
    byte[] target() {
        return target;
    }

    /** Method, origin and target, for messages. */
    @Override
    public String toString() {
        return methodName + " " + origin + new String(target, StandardCharsets.ISO_8859_1);
    }

    /** Collects a request. Confined to one thread. */
    public static final class Builder {

        private final Origin origin;
        private @Nullable String tlsName;
        private OriginTlsConfig tls = OriginTlsConfig.DEFAULTS;
        private String methodName = "GET";
        private byte[] target = {'/'};
        private @Nullable FieldSection fields;
        private long contentLength = NO_CONTENT;
        private FetchSettings settings = FetchSettings.defaults();
        private @Nullable String upgrade;
        private @Nullable AddressCheck addresses;
        private boolean tunnel;
        private byte @Nullable [] preface;
        private OriginConfig.Http2 http2 = OriginConfig.Http2.OFF;
        private boolean trailersWanted;

        private Builder(Origin origin) {
            this.origin = Objects.requireNonNull(origin, "origin");
        }

        /** The name for the TLS handshake, where it is not the origin's host. */
        public Builder tlsName(String name) {
            tlsName = name;
            return this;
        }

        /** TLS settings; a fixed name in them goes before {@link #tlsName}. */
        public Builder tls(OriginTlsConfig config) {
            tls = config;
            if (config.name() != null) {
                tlsName = config.name();
            }
            return this;
        }

        /**
         * The method, in the case it is sent in.
         *
         * @throws IllegalArgumentException when it is not a token (RFC 9110 s9.1), or CONNECT, which is no request for a response to be relayed
         */
        public Builder method(String name) {
            for (int i = 0; i < name.length(); i++) {
                char c = name.charAt(i);
                if (c <= ' ' || c >= 0x7f || "\"(),/:;<=>?@[\\]{}".indexOf(c) >= 0) {
                    throw new IllegalArgumentException("method: not a token at index " + i);
                }
            }
            if (name.isEmpty() || name.equals("CONNECT")) {
                throw new IllegalArgumentException(
                        "method: actual=\"" + name + "\", expected one that has an ordinary response");
            }
            methodName = name;
            return this;
        }

        /** The request target; see {@link #target(byte[])}. */
        public Builder target(String target) {
            return target(target.getBytes(StandardCharsets.ISO_8859_1));
        }

        /**
         * The request target, in origin-form or {@code *}. Borrows the array for as long as the request lives.
         *
         * @throws IllegalArgumentException when it is empty or holds a byte that would end it on the wire: controls and space
         */
        public Builder target(byte[] bytes) {
            if (bytes.length == 0) {
                throw new IllegalArgumentException("target: empty");
            }
            for (int i = 0; i < bytes.length; i++) {
                if ((bytes[i] >= 0 && bytes[i] <= ' ') || bytes[i] == 0x7f) {
                    throw new IllegalArgumentException(
                            "target: byte 0x" + Integer.toHexString(bytes[i]) + " at index " + i);
                }
            }
            target = bytes;
            return this;
        }

        /** The end-to-end fields, Host and Via included. */
        public Builder fields(FieldSection section) {
            fields = section;
            return this;
        }

        /** Content of exactly this many bytes follows. */
        public Builder contentLength(long length) {
            if (length < 0) {
                throw new IllegalArgumentException("contentLength: actual=" + length + ", limit=0 or more");
            }
            contentLength = length;
            return this;
        }

        /** Content of unknown length follows, to be sent in chunks. */
        public Builder chunkedContent() {
            contentLength = CHUNKED;
            return this;
        }

        /** The origin may switch to one of these protocols: the request gets a connection that serves no other. */
        public Builder upgrade(@Nullable String protocols) {
            upgrade = protocols;
            return this;
        }

        /** Trailers of the response reach the client. */
        public Builder trailersWanted(boolean wanted) {
            trailersWanted = wanted;
            return this;
        }

        /** It may go to these addresses only, and else fails with {@link OriginFailure.Reason#DESTINATION}. */
        public Builder addresses(AddressCheck check) {
            addresses = check;
            return this;
        }

        /**
         * The connection begins with these bytes, in front of TLS, and serves no other request: a header of the PROXY protocol. Borrows the
         * array for as long as the request lives.
         */
        public Builder preface(byte[] bytes) {
            preface = bytes;
            return this;
        }

        /** Whether HTTP/2 is spoken. */
        public Builder http2(OriginConfig.Http2 mode) {
            http2 = mode;
            return this;
        }

        /** Deadlines and limits. */
        public Builder settings(FetchSettings settings) {
            this.settings = Objects.requireNonNull(settings, "settings");
            return this;
        }

        /** The request. */
        public OriginRequest build() {
            return new OriginRequest(this);
        }
    }
}
