package io.millrace.proxy.tls;

import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.millrace.proxy.config.tls.TlsConfig.NameSettings;
import io.millrace.proxy.config.value.TlsVersion;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.tls.ocsp.OcspTarget;
import io.millrace.proxy.tls.ocsp.Staple;
import io.millrace.proxy.tls.ocsp.Stapling;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.OpenSslCertificateCompressionConfig;
import io.netty.handler.ssl.OpenSslCertificateCompressionConfig.AlgorithmMode;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.OpenSslCredential;
import io.netty.handler.ssl.OpenSslCredentialBuilder;
import io.netty.handler.ssl.OpenSslServerSessionContext;
import io.netty.handler.ssl.ReferenceCountedOpenSslEngine;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The TLS contexts of one or more listening addresses. A context is created at the first use of a certificate,
 * and cached.
 *
 * <p>Thread-safe. Contexts are created on an executor, because the creation takes a millisecond or more. Each
 * returned context is retained, so the caller must release it.
 */
final class ServerContexts {
    private static final Logger log = LoggerFactory.getLogger(ServerContexts.class);
    private static final long FAULT_QUIET_NANOS = TimeUnit.SECONDS.toNanos(60);
    /**
     * The protocols that the server offers, in order of preference. A client that supports none of them is served
     * HTTP/1.1.
     */
    private static final ApplicationProtocolConfig HTTP2_FIRST = new ApplicationProtocolConfig(
            ApplicationProtocolConfig.Protocol.ALPN,
            ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
            ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
            ApplicationProtocolNames.HTTP_2,
            ApplicationProtocolNames.HTTP_1_1);

    private static final char[] NO_PASSWORD = new char[0];

    /** The cipher suites of TLS 1.3 in BoringSSL, which enables either all or none of these suites. */
    private static final List<String> TLS_1_3_SUITES =
            List.of("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256");

    /**
     * Limit of certificate sets up to which all OCSP staples are requested before the first client. With more sets, a
     * staple is requested at the first use of a certificate.
     */
    private static final int STAPLED_AHEAD_MAX = 256;

    private final FaultLog faults = new FaultLog(log, FAULT_QUIET_NANOS, System::nanoTime);
    private final Executor executor;
    private final Map<CertificateSet, CompletableFuture<SslContext>> contexts = new ConcurrentHashMap<>();

    private volatile TicketKeys ticketKeys;

    private final ServerTlsConfig settings;
    private final boolean http2;
    private final Stapling stapling;
    private final LongSupplier clockMillis;

    /** The effective settings of names: the settings of the address, overridden by the names' own settings. */
    private final Map<NameSettings, ServerTlsConfig> effective = new ConcurrentHashMap<>();

    /** Stamps of the files of client authorities and revocation lists, as of the last check. */
    private volatile List<FileStamp> stamps = List.of();

    /**
     * @param http2 whether HTTP/2 is offered to clients, before HTTP/1.1
     * @param ticketKeys session ticket keys for all contexts, until {@link #ticketKeys} sets other keys
     * @param clockMillis clock for the expiry of staples
     */
    ServerContexts(
            Executor executor,
            ServerTlsConfig settings,
            boolean http2,
            TicketKeys ticketKeys,
            Stapling stapling,
            LongSupplier clockMillis) {
        this.executor = executor;
        this.settings = settings;
        this.http2 = http2;
        this.ticketKeys = ticketKeys;
        this.stapling = stapling;
        this.clockMillis = clockMillis;
        stamps = stamps();
    }

    private List<FileStamp> stamps() {
        return Stream.concat(Stream.of(settings), effective.values().stream())
                .flatMap(ClientTrust::files)
                .distinct()
                .sorted()
                .map(FileStamp::of)
                .toList();
    }

    /** The settings of the address. */
    ServerTlsConfig settings() {
        return settings;
    }

    /** Returns the effective settings of the names of a set. */
    ServerTlsConfig settings(CertificateSet set) {
        return settings(set.settings());
    }

    /** Returns the settings of the address, overridden by the given settings of names. */
    ServerTlsConfig settings(NameSettings names) {
        return names.equals(NameSettings.NONE)
                ? settings
                : effective.computeIfAbsent(names, named -> named.applyTo(settings));
    }

    /**
     * Discards all contexts if a file of client authorities has changed and is usable. New contexts then use the new
     * file. Blocks.
     */
    void checkFiles() {
        List<FileStamp> now = stamps();
        if (now.equals(stamps)) {
            return;
        }
        stamps = now;
        try {
            ClientTrust.of(settings);
            for (ServerTlsConfig each : effective.values()) {
                ClientTrust.of(each);
            }
            close();
            log.info("TLS: reloaded the certificate authorities for client certificates");
        } catch (SSLException e) {
            log.error("TLS: {}; the version loaded before stays in use", e.getMessage());
        }
    }

    /** Sets the session ticket keys of all contexts, including contexts that are created later. */
    void ticketKeys(TicketKeys keys) {
        ticketKeys = keys;
        for (CompletableFuture<SslContext> each : contexts.values()) {
            var unused = each.thenAccept(context -> setTicketKeys(context, keys));
        }
    }

    private static void setTicketKeys(SslContext context, TicketKeys keys) {
        SslContext held = retained(context);
        try {
            if (held != null && held.sessionContext() instanceof OpenSslServerSessionContext sessions) {
                sessions.setTicketKeys(keys.forLibrary());
            }
        } finally {
            ReferenceCountUtil.release(held);
        }
    }

    /** Returns the existing context of a set, retained; null if there is none yet. */
    @Nullable
    SslContext ready(CertificateSet set) {
        CompletableFuture<SslContext> known = contexts.get(set);
        return known == null || !known.isDone() || known.isCompletedExceptionally() ? null : retained(known.join());
    }

    /** Completes a promise with the context of a set, retained. Creates the context if it is missing. */
    void provide(CertificateSet set, Promise<SslContext> promise) {
        CompletableFuture<SslContext> known = contexts.get(set);
        if (known == null) {
            CompletableFuture<SslContext> pending = new CompletableFuture<>();
            known = contexts.putIfAbsent(set, pending);
            if (known == null) {
                known = pending;
                executor.execute(() -> make(set, pending));
            }
        }
        var unused = known.whenComplete((context, failure) -> {
            SslContext retained = failure == null ? retained(context) : null;
            if (retained == null) {
                promise.tryFailure(
                        failure == null ? new SSLException("the certificate was just replaced; try again") : failure);
            } else if (!promise.trySuccess(retained)) {
                ReferenceCountUtil.release(retained);
            }
        });
    }

    /** Creates the context of a set on the calling thread. */
    void prepare(CertificateSet set) {
        CompletableFuture<SslContext> pending = new CompletableFuture<>();
        if (contexts.putIfAbsent(set, pending) == null) {
            make(set, pending);
        }
    }

    private void make(CertificateSet set, CompletableFuture<SslContext> into) {
        try {
            requestStaple(set);
            SslContext context = build(
                    set.certificates(), settings(set), http2 && set.settings().http2());
            TicketKeys keys = ticketKeys;
            setTicketKeys(context, keys);
            into.complete(context);
            if (keys != ticketKeys) {
                // Another thread has changed the keys, perhaps before it could see this context.
                setTicketKeys(context, ticketKeys);
            }
        } catch (SSLException | RuntimeException e) {
            into.completeExceptionally(e);
            faults.report(
                    "TLS: a context cannot be created",
                    set.certificates().get(0).files().certificate() + ": " + e.getMessage(),
                    null);
            contexts.remove(set, into);
        }
    }

    /** Releases the contexts of sets that the index can no longer select. Existing connections keep their contexts. */
    void retain(CertificateIndex index) {
        effective.keySet().retainAll(index.settings());
        contexts.keySet().removeIf(set -> {
            if (index.has(set)) {
                return false;
            }
            releaseWhenMade(contexts.get(set));
            return true;
        });
    }

    /** Returns true if handshakes for a set send a staple when one is available. */
    boolean staples(CertificateSet set) {
        return OpenSsl.isAvailable()
                && set.ocspTarget() != null
                && settings(set).ocspStapling();
    }

    private void requestStaple(CertificateSet set) {
        OcspTarget target = set.ocspTarget();
        if (target != null && staples(set)) {
            set.staple(stapling.staple(target));
        }
    }

    /**
     * Requests OCSP staples before the first client needs them, if there are few sets. Always requests
     * staples for must-staple certificates, which clients refuse without a staple. May read files.
     */
    void requestStaples(CertificateIndex index) {
        List<CertificateSet> stapledSets =
                index.sets().stream().filter(this::staples).toList();
        boolean all = stapledSets.size() <= STAPLED_AHEAD_MAX;
        for (CertificateSet set : stapledSets) {
            if (all || set.isMustStaple()) {
                requestStaple(set);
            }
        }
    }

    /** Creates the TLS handler of a connection. Its handshake sends the staple of the set, if available. */
    SslHandler newHandler(CertificateSet set, SslContext context, ByteBufAllocator allocator) {
        return stapled(set, context.newHandler(allocator));
    }

    /** Sets the staple of the set, if available, in a TLS handler. Returns the handler. */
    SslHandler stapled(CertificateSet set, SslHandler handler) {
        Staple staple = set.staple();
        if (staple != null
                && staple.isUsable(clockMillis.getAsLong())
                && staples(set)
                && handler.engine() instanceof ReferenceCountedOpenSslEngine engine) {
            engine.setOcspResponse(staple.der());
        }
        return handler;
    }

    /** Releases all contexts. */
    void close() {
        contexts.keySet().removeIf(set -> {
            releaseWhenMade(contexts.get(set));
            return true;
        });
    }

    /** The number of contexts that exist or are being created. */
    int size() {
        return contexts.size();
    }

    private static void releaseWhenMade(@Nullable CompletableFuture<SslContext> context) {
        if (context != null) {
            var unused = context.thenAccept(ReferenceCountUtil::release);
        }
    }

    private static @Nullable SslContext retained(SslContext context) {
        try {
            return ReferenceCountUtil.retain(context);
        } catch (IllegalReferenceCountException e) {
            // The context was released by another thread before this call.
            return null;
        }
    }

    /** Checks whether the TLS library accepts settings, without a certificate. Blocks. */
    static void check(ServerTlsConfig settings) throws SSLException {
        ClientTrust.of(settings);
        if (OpenSsl.isAvailable()) {
            // The check creates a context for clients, which needs no certificate and accepts the same settings.
            SslContextBuilder client = SslContextBuilder.forClient().sslProvider(SslProvider.OPENSSL_REFCNT);
            ReferenceCountUtil.release(finish(client, settings, ClientTrust.of(ServerTlsConfig.DEFAULTS)));
        }
    }

    /** Creates a TLS context with one or more certificates. */
    static SslContext build(List<ServerCertificate> certificates, ServerTlsConfig settings, boolean http2)
            throws SSLException {
        ClientTrust trust = ClientTrust.of(settings);
        try {
            SslContextBuilder builder;
            if (OpenSsl.isAvailable()) {
                // The TLS library prefers added credentials to the certificate of the builder. Therefore the builder
                // gets the last certificate, which has the lowest preference.
                ServerCertificate last = last(certificates);
                builder = SslContextBuilder.forServer(last.privateKey(), last.x509Chain())
                        .keyStoreType(ServerCertificate.KEY_STORE_TYPE)
                        .sslProvider(SslProvider.OPENSSL_REFCNT);
                for (ServerCertificate other : certificates.subList(0, certificates.size() - 1)) {
                    OpenSslCredential credential = OpenSslCredentialBuilder.forX509(
                                    other.privateKey(), other.x509Chain())
                            .build();
                    builder.addCredential(credential);
                }
                builder.option(
                        OpenSslContextOption.CERTIFICATE_COMPRESSION_ALGORITHMS,
                        OpenSslCertificateCompressionConfig.newBuilder()
                                .addAlgorithm(new ZlibCertificates(), AlgorithmMode.Compress)
                                .build());
            } else {
                builder = SslContextBuilder.forServer(keyManagers(certificates)).sslProvider(SslProvider.JDK);
            }
            if (settings.ocspStapling()
                    && OpenSsl.isAvailable()
                    && last(certificates).ocspTarget() != null) {
                builder.enableOcsp(true);
            }
            if (http2) {
                builder.applicationProtocolConfig(HTTP2_FIRST);
            }
            return finish(builder, settings, trust);
        } catch (GeneralSecurityException | IllegalArgumentException | UnsupportedOperationException e) {
            throw new SSLException(e.getMessage(), e);
        } catch (Exception e) {
            throw e instanceof SSLException known ? known : new SSLException(e.getMessage(), e);
        }
    }

    private static ServerCertificate last(List<ServerCertificate> certificates) {
        return certificates.get(certificates.size() - 1);
    }

    private static SslContext finish(SslContextBuilder builder, ServerTlsConfig settings, ClientTrust trust)
            throws SSLException {
        builder.protocols(TlsVersion.between(settings.minVersion(), settings.maxVersion()));
        if (!settings.ciphers().isEmpty()) {
            List<String> suites = new ArrayList<>(TLS_1_3_SUITES);
            for (String suite : settings.ciphers()) {
                if (OpenSsl.isAvailable() && !OpenSsl.isCipherSuiteAvailable(suite)) {
                    throw new SSLException("ciphers: " + suite + " is not a cipher suite of " + OpenSsl.versionString()
                            + "; an example is TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256");
                }
                suites.add(suite);
            }
            builder.ciphers(suites);
        }
        if (!settings.groups().isEmpty() && OpenSsl.isAvailable()) {
            builder.option(OpenSslContextOption.GROUPS, settings.groups().toArray(String[]::new));
        }
        TrustManager manager = trust.manager();
        if (manager != null) {
            boolean required = settings.clientCertificates() == ServerTlsConfig.ClientCertificates.REQUIRE;
            builder.clientAuth(required ? ClientAuth.REQUIRE : ClientAuth.OPTIONAL)
                    .trustManager(manager);
        } else {
            builder.trustManager(ClientTrust.NONE);
        }
        SslContext context = builder.build();
        if (context.sessionContext() instanceof OpenSslServerSessionContext sessions) {
            sessions.setSessionIdContext(trust.sessionContext());
        }
        return context;
    }

    private static KeyManagerFactory keyManagers(List<ServerCertificate> certificates)
            throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(ServerCertificate.KEY_STORE_TYPE);
        store.load(null, NO_PASSWORD);
        for (ServerCertificate each : certificates) {
            store.setKeyEntry(each.keyAlgorithm(), each.privateKey(), NO_PASSWORD, each.x509Chain());
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(store, NO_PASSWORD);
        return managers;
    }
}
