package io.millrace.proxy.fetch;

import io.millrace.proxy.config.origins.OriginConfig;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.config.value.SourceAddress;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A request to an origin, without its content.
 *
 * <p>The caller supplies the end-to-end fields, including Host and Via. This package writes Connection,
 * Transfer-Encoding and Content-Length, according to {@link #hasContent()} and {@link #contentLength()}. Lines of those
 * names in {@link #fields()} are not sent.
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
    private final SourceAddress source;
    private final @Nullable InetAddress client;

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
        client = builder.client;
        source = client == null ? builder.source : SourceAddress.NONE;
    }

    /** Returns a builder with the defaults: {@code GET /} without content, default settings. */
    public static Builder to(Origin origin) {
        return new Builder(origin);
    }

    /**
     * Returns a request for a connection that becomes a tunnel. No HTTP request is sent on the connection.
     * {@link OriginResponseHandler#onSwitched} gets the connection, with a generated head of status 200.
     *
     * @param check determines the permitted addresses
     * @param source local addresses of the connection
     * @param client see {@link Builder#client}
     */
    public static OriginRequest tunnel(
            Origin origin,
            FetchSettings settings,
            AddressCheck check,
            SourceAddress source,
            @Nullable InetAddress client) {
        Builder builder = new Builder(origin)
                .fields(FieldSection.EMPTY)
                .settings(settings)
                .addresses(check)
                .source(source)
                .client(client);
        builder.tunnel = true;
        return builder.build();
    }

    /**
     * Returns a CONNECT request to a proxy (RFC 9110 s9.3.6). After a 2xx response,
     * {@link OriginResponseHandler#onSwitched} gets the connection. Any other response is delivered like a response to
     * GET.
     *
     * @param proxy the proxy to send the request to
     * @param authority host and port of the destination
     * @param fields the end-to-end fields, including Host and Via
     * @param tls TLS settings for the connection to the proxy
     * @param source local addresses of the connection
     * @param client see {@link Builder#client}
     */
    public static OriginRequest connect(
            Origin proxy,
            String authority,
            FieldSection fields,
            FetchSettings settings,
            OriginTlsConfig tls,
            SourceAddress source,
            @Nullable InetAddress client) {
        Builder builder = new Builder(proxy)
                .target(authority)
                .fields(fields)
                .settings(settings)
                .tls(tls)
                .source(source)
                .client(client);
        builder.methodName = Method.CONNECT.name();
        return builder.build();
    }

    /** The origin. */
    public Origin origin() {
        return origin;
    }

    /** The server name for the TLS handshake and the certificate check: the origin's host by default. */
    public String tlsName() {
        return tlsName;
    }

    /** TLS settings for an {@code https} origin. */
    OriginTlsConfig tls() {
        return tls;
    }

    /** The method name as it is sent. */
    public String methodName() {
        return methodName;
    }

    /** The method, for its properties. */
    public Method method() {
        return method;
    }

    /** The end-to-end fields. Framing fields among them are not sent. */
    public FieldSection fields() {
        return fields;
    }

    /** Returns true if the request has content. Content of length 0 counts. */
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

    /** The value of the Upgrade field (RFC 9110 s7.8); null for none. */
    public @Nullable String upgrade() {
        return upgrade;
    }

    /** The check of addresses; null when all are permitted. */
    @Nullable
    AddressCheck addresses() {
        return addresses;
    }

    /** Returns true if no request is sent: the connection is handed over as soon as it is established. */
    boolean isTunnel() {
        return tunnel;
    }

    /** Returns true if the request is CONNECT to a proxy. */
    boolean isConnect() {
        return method == Method.CONNECT;
    }

    /** Returns true for a tunnel without a request, or for a request with an Upgrade field. False for CONNECT. */
    boolean mayBecomeTunnel() {
        return tunnel || upgrade != null;
    }

    /**
     * Returns true if the connection must not carry another request, because it may switch to another protocol, begins
     * with a PROXY header, or is made from a client's address.
     */
    boolean needsOwnConnection() {
        return tunnel || upgrade != null || preface != null || client != null || isConnect();
    }

    /** Returns true if {@code TE: trailers} is sent (RFC 9110 s10.1.4), since the client accepts trailers. */
    boolean isTrailersWanted() {
        return trailersWanted;
    }

    /**
     * The client's address, from which the connection is made; null if {@link #source} determines the local address.
     */
    @Nullable
    InetAddress client() {
        return client;
    }

    /** The local addresses of the connection; none if the connection is made from a client's address. */
    SourceAddress source() {
        return source;
    }

    /** The first bytes of the connection, before TLS; null for none. Borrowed: do not modify. */
    byte @Nullable [] preface() {
        return preface;
    }

    /**
     * The HTTP/2 setting; OFF if the connection must not carry another request, or if ALPN must choose but there is no
     * TLS.
     */
    OriginConfig.Http2 http2() {
        boolean isAlpnWithoutTls = http2 == OriginConfig.Http2.ALPN && !origin.isSecure();
        return isAlpnWithoutTls || needsOwnConnection() ? OriginConfig.Http2.OFF : http2;
    }

    /** The request target as it is sent. Borrowed: do not modify. */
    byte[] target() {
        return target;
    }

    /** Method, origin and target, for messages. */
    @Override
    public String toString() {
        return methodName + " " + origin + new String(target, StandardCharsets.ISO_8859_1);
    }

    /** Builds a request. Confined to one thread. */
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
        private SourceAddress source = SourceAddress.NONE;
        private @Nullable InetAddress client;

        private Builder(Origin origin) {
            this.origin = Objects.requireNonNull(origin, "origin");
        }

        /** Sets the server name for TLS, when it is not the origin's host. */
        public Builder tlsName(String name) {
            tlsName = name;
            return this;
        }

        /** Sets the TLS settings. A fixed name in them overrides {@link #tlsName}. */
        public Builder tls(OriginTlsConfig config) {
            tls = config;
            if (config.name() != null) {
                tlsName = config.name();
            }
            return this;
        }

        /**
         * Sets the method. It is sent as given, since method names are case-sensitive.
         *
         * @throws IllegalArgumentException when it is not a token (RFC 9110 s9.1), or when it is CONNECT: use
         *     {@link #connect}
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
                        "method: actual=\"" + name + "\", expected a method other than CONNECT");
            }
            methodName = name;
            return this;
        }

        /** Sets the request target; see {@link #target(byte[])}. */
        public Builder target(String target) {
            return target(target.getBytes(StandardCharsets.ISO_8859_1));
        }

        /**
         * Sets the request target, in origin-form or {@code *}. Borrows the array for the lifetime of the request.
         *
         * @throws IllegalArgumentException when it is empty, or contains a control byte or a space that would end it in
         *     the request line
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

        /** Sets the end-to-end fields, including Host and Via. */
        public Builder fields(FieldSection section) {
            fields = section;
            return this;
        }

        /** Announces content of exactly this many bytes. */
        public Builder contentLength(long length) {
            if (length < 0) {
                throw new IllegalArgumentException("contentLength: actual=" + length + ", limit=0 or more");
            }
            contentLength = length;
            return this;
        }

        /** Announces content of unknown length, sent in chunks. */
        public Builder chunkedContent() {
            contentLength = CHUNKED;
            return this;
        }

        /** Offers these protocols to the origin. The connection carries no other request. */
        public Builder upgrade(@Nullable String protocols) {
            upgrade = protocols;
            return this;
        }

        /** Sets whether the client accepts trailers of the response. */
        public Builder trailersWanted(boolean wanted) {
            trailersWanted = wanted;
            return this;
        }

        /**
         * Restricts the request to permitted addresses. If the host has no permitted address, the request fails with
         * {@link OriginFailure.Reason#DESTINATION}.
         */
        public Builder addresses(AddressCheck check) {
            addresses = check;
            return this;
        }

        /**
         * Sets the first bytes of the connection, before TLS: a PROXY protocol header. The connection carries no other
         * request. Borrows the array for the lifetime of the request.
         */
        public Builder preface(byte[] bytes) {
            preface = bytes;
            return this;
        }

        /** Sets the use of HTTP/2. */
        public Builder http2(OriginConfig.Http2 mode) {
            http2 = mode;
            return this;
        }

        /** Sets the local addresses of the connection; the system chooses them if not called. */
        public Builder source(SourceAddress addresses) {
            source = addresses;
            return this;
        }

        /**
         * Makes the connection from the client's address, even if it is not an address of this machine (transparent
         * proxy). The connection carries no other request. Overrides {@link #source}; null has no effect.
         */
        public Builder client(@Nullable InetAddress address) {
            client = address;
            return this;
        }

        /** Sets deadlines and limits. */
        public Builder settings(FetchSettings settings) {
            this.settings = Objects.requireNonNull(settings, "settings");
            return this;
        }

        /** Returns the request. */
        public OriginRequest build() {
            return new OriginRequest(this);
        }
    }
}
