package io.millrace.launcher.fleet;

import io.millrace.launcher.fleet.config.ConfigStore;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.purge.fleet.FleetCodec;
import io.millrace.proxy.purge.fleet.GapCheck.StreamState;
import io.nats.client.AuthHandler;
import io.nats.client.AuthenticationException;
import io.nats.client.Connection;
import io.nats.client.ConnectionListener;
import io.nats.client.Consumer;
import io.nats.client.Dispatcher;
import io.nats.client.ErrorListener;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.JetStreamSubscription;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.PublishOptions;
import io.nats.client.PushSubscribeOptions;
import io.nats.client.api.AckPolicy;
import io.nats.client.api.ClusterInfo;
import io.nats.client.api.ConsumerConfiguration;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.MessageInfo;
import io.nats.client.api.PublishAck;
import io.nats.client.api.RetentionPolicy;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.api.StreamInfo;
import io.nats.client.impl.Headers;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection to NATS servers with JetStream. Subjects are {@code millrace.FLEET.purge.NODE} for the stream, {@code
 * millrace.FLEET.node.NODE} for reports, and {@code millrace.FLEET.ask.NODE} for queries. No other class uses the NATS
 * client.
 */
final class NatsLink implements FleetLink {
    private static final Logger LOG = LoggerFactory.getLogger(NatsLink.class);

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration RECONNECT_WAIT = Duration.ofMillis(500);
    private static final Duration PING_INTERVAL = Duration.ofSeconds(2);
    private static final int PINGS_OUT_MAX = 2;
    /** Time for which the stream keeps messages. A node that was away longer has a gap. */
    private static final Duration KEPT = Duration.ofDays(7);
    /** Time for which the server recognizes a message that is sent again. */
    private static final Duration DUPLICATES = Duration.ofMinutes(2);
    /** An ephemeral consumer is deleted after this time without its node. */
    private static final Duration CONSUMER_KEPT = Duration.ofSeconds(30);

    private static final int NOT_FOUND = 404;
    private static final int SERVER_ERROR = 500;
    private static final String ID_FIELD = "Nats-Msg-Id";

    private final FleetConfig settings;
    private final Connection connection;
    private final AtomicLong connections;
    private final JetStream jetStream;
    private final JetStreamManagement management;
    private final String stream;
    private final String subjects;
    private final Dispatcher reports;
    private @Nullable Dispatcher dispatcher;
    private volatile BiConsumer<String, byte[]> receiver = (node, report) -> {};

    private NatsLink(FleetConfig settings, Connection connection, AtomicLong connections) throws IOException {
        this.settings = settings;
        this.connection = connection;
        this.connections = connections;
        this.jetStream = connection.jetStream();
        this.management = connection.jetStreamManagement();
        this.stream = "MILLRACE_" + settings.name();
        this.subjects = "millrace." + settings.name() + ".purge.*";
        this.reports = connection.createDispatcher(
                message -> receiver.accept(lastToken(message.getSubject()), message.getData()));
        reports.subscribe("millrace." + settings.name() + ".node.*");
    }

    private static String lastToken(String subject) {
        return subject.substring(subject.lastIndexOf('.') + 1);
    }

    static FleetLink open(FleetConfig settings) throws FleetException, IOException, InterruptedException {
        AtomicLong connections = new AtomicLong();
        Options options = options(settings, connections);
        Connection connection;
        try {
            connection = Nats.connect(options);
        } catch (AuthenticationException e) {
            throw new FleetException("the NATS servers refused the credentials: " + e.getMessage());
        }
        try {
            NatsLink link = new NatsLink(settings, connection, connections);
            link.createStream();
            return link;
        } catch (FleetException | IOException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    private static Options options(FleetConfig settings, AtomicLong connections) throws FleetException {
        Options.Builder options = new Options.Builder()
                .servers(settings.servers().toArray(new String[0]))
                .connectionName("millrace " + settings.name() + " " + settings.node())
                .maxReconnects(-1)
                .connectionTimeout(CONNECT_TIMEOUT)
                .reconnectWait(RECONNECT_WAIT)
                .pingInterval(PING_INTERVAL)
                .maxPingsOut(PINGS_OUT_MAX)
                .reconnectBufferSize(0)
                .connectionListener((changed, event) -> {
                    if (event == ConnectionListener.Events.CONNECTED
                            || event == ConnectionListener.Events.RECONNECTED) {
                        connections.incrementAndGet();
                    }
                })
                .errorListener(new Errors());
        try {
            AuthHandler credentials = credentials(settings);
            if (credentials != null) {
                options.authHandler(credentials);
            }
            Path token = settings.tokenFile();
            if (token != null) {
                options.token(Files.readString(token).strip().toCharArray());
            }
            SSLContext tls = tls(settings);
            if (tls != null) {
                options.sslContext(tls);
            }
        } catch (IOException | IllegalArgumentException | IllegalStateException e) {
            throw new FleetException("the credentials or certificates cannot be read: " + e.getMessage());
        }
        return options.build();
    }

    private static @Nullable AuthHandler credentials(FleetConfig settings) throws IOException {
        Path file = settings.credentialsFile();
        if (file != null) {
            return Nats.credentials(file.toString());
        }
        Path nkey = settings.nkeyFile();
        return nkey == null
                ? null
                : Nats.staticCredentials(null, Files.readString(nkey).strip().toCharArray());
    }

    private static @Nullable SSLContext tls(FleetConfig settings) throws IOException {
        Path ca = settings.caFile();
        Path certificate = settings.certificate();
        Path key = settings.key();
        if (ca == null && certificate == null) {
            return null;
        }
        SslContextBuilder builder = SslContextBuilder.forClient().sslProvider(SslProvider.JDK);
        if (ca != null) {
            builder.trustManager(ca.toFile());
        }
        if (certificate != null && key != null) {
            builder.keyManager(certificate.toFile(), key.toFile());
        }
        return ((JdkSslContext) builder.build()).context();
    }

    /**
     * Logs problems of the client. They need no other reaction, because the session detects lost messages by itself.
     */
    private static final class Errors implements ErrorListener {
        @Override
        public void errorOccurred(Connection connection, String error) {
            LOG.warn("NATS server: {}", error);
        }

        @Override
        public void exceptionOccurred(Connection connection, Exception exception) {
            LOG.debug("NATS client", exception);
        }

        @Override
        public void slowConsumerDetected(Connection connection, Consumer consumer) {
            LOG.warn("NATS client: messages of the fleet arrive faster than this node applies them");
        }
    }

    /** A request to the servers. */
    @FunctionalInterface
    private interface Request<T> {
        T send() throws IOException, JetStreamApiException;
    }

    /** Sends a request. The client reports a lost connection as an illegal state, which is a failure as any other. */
    private static <T> T request(Request<T> request) throws IOException, JetStreamApiException {
        try {
            return request.send();
        } catch (IllegalStateException e) {
            throw new IOException("no NATS server is connected: " + e.getMessage(), e);
        }
    }

    private void createStream() throws FleetException, IOException {
        try {
            check(request(() -> management.getStreamInfo(stream)));
        } catch (JetStreamApiException e) {
            if (e.getErrorCode() >= SERVER_ERROR) {
                throw new IOException("stream " + stream + ": " + e.getMessage(), e);
            }
            if (e.getErrorCode() != NOT_FOUND) {
                throw refused(e);
            }
            try {
                StreamConfiguration wanted = StreamConfiguration.builder()
                        .name(stream)
                        .subjects(subjects)
                        .storageType(StorageType.File)
                        .retentionPolicy(RetentionPolicy.Limits)
                        .replicas(settings.replicas())
                        .maxAge(KEPT)
                        .maximumMessageSize(FleetCodec.MESSAGE_BYTES_MAX)
                        .duplicateWindow(DUPLICATES)
                        .denyDelete(true)
                        .denyPurge(true)
                        .build();
                request(() -> management.addStream(wanted));
                LOG.info("fleet {}: created the stream {}", settings.name(), stream);
            } catch (JetStreamApiException failure) {
                throw refused(failure);
            }
        }
    }

    private FleetException refused(JetStreamApiException e) {
        return new FleetException("stream " + stream + ": " + e.getMessage());
    }

    private void check(StreamInfo info) throws FleetException {
        StreamConfiguration found = info.getConfiguration();
        String fault = null;
        if (!found.getSubjects().equals(List.of(subjects))) {
            fault = "its subjects are " + found.getSubjects() + ", expected " + subjects;
        } else if (found.getStorageType() != StorageType.File) {
            fault = "its storage is memory, expected file";
        } else if (found.getRetentionPolicy() != RetentionPolicy.Limits) {
            fault = "its retention is " + found.getRetentionPolicy() + ", expected limits";
        } else if (!found.getDenyDelete() || !found.getDenyPurge()) {
            fault = "it permits deletion of messages; expected deny_delete and deny_purge";
        } else if (found.getReplicas() < settings.replicas()) {
            fault = "it has " + found.getReplicas() + " replicas, fleet.replicas is " + settings.replicas();
        }
        if (fault != null) {
            throw new FleetException("stream " + stream + " has the wrong form: " + fault);
        }
    }

    @Override
    public boolean isConnected() {
        return connection.getStatus() == Connection.Status.CONNECTED;
    }

    @Override
    public long connections() {
        return connections.get();
    }

    @Override
    public StreamState state() throws FleetException, IOException {
        try {
            StreamInfo info = request(() -> management.getStreamInfo(stream));
            check(info);
            return new StreamState(
                    info.getCreateTime().toInstant().toString(),
                    info.getStreamState().getFirstSequence(),
                    info.getStreamState().getLastSequence(),
                    leader(info),
                    lastAgeMillis(info));
        } catch (JetStreamApiException e) {
            if (e.getErrorCode() == NOT_FOUND) {
                createStream();
                throw new IOException("the stream " + stream + " was missing, and was created again", e);
            }
            throw new IOException("stream " + stream + ": " + e.getMessage(), e);
        }
    }

    private static String leader(StreamInfo info) {
        ClusterInfo cluster = info.getClusterInfo();
        // A server that becomes the leader again has a later time, so the text differs from the earlier one.
        return cluster == null || cluster.getLeader() == null
                ? ""
                : cluster.getLeader() + " since " + cluster.getLeaderSince();
    }

    private static long lastAgeMillis(StreamInfo info) {
        ZonedDateTime now = info.getTimestamp();
        ZonedDateTime last = info.getStreamState().getLastTime();
        return now == null || last == null || info.getStreamState().getLastSequence() == 0
                ? 0
                : Math.max(0, Duration.between(last, now).toMillis());
    }

    @Override
    public @Nullable String idAt(long sequence) throws IOException {
        try {
            MessageInfo message = request(() -> management.getMessage(stream, sequence));
            Headers fields = message.getHeaders();
            return fields == null ? null : fields.getFirst(ID_FIELD);
        } catch (JetStreamApiException e) {
            if (e.getErrorCode() == NOT_FOUND) {
                return null;
            }
            throw new IOException("stream " + stream + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void follow(long from, java.util.function.Consumer<Received> messages) throws IOException {
        endSubscription();
        if (!isConnected()) {
            throw new IOException("no NATS server is connected");
        }
        Dispatcher next = connection.createDispatcher();
        next.setPendingLimits(-1, 64L << 20);
        dispatcher = next;
        ConsumerConfiguration consumer = ConsumerConfiguration.builder()
                .deliverPolicy(DeliverPolicy.ByStartSequence)
                .startSequence(from)
                .ackPolicy(AckPolicy.None)
                .inactiveThreshold(CONSUMER_KEPT)
                .build();
        PushSubscribeOptions options = PushSubscribeOptions.builder().stream(stream)
                .configuration(consumer)
                .build();
        try {
            JetStreamSubscription made = request(
                    () -> jetStream.subscribe(subjects, next, message -> receive(message, messages), false, options));
            LOG.debug("follows {} from {}: {}", stream, from, made.getConsumerName());
        } catch (JetStreamApiException e) {
            throw new IOException("stream " + stream + ": " + e.getMessage(), e);
        }
    }

    private static void receive(Message message, java.util.function.Consumer<Received> messages) {
        if (!message.isJetStream()) {
            return;
        }
        Headers fields = message.getHeaders();
        String id = fields == null ? null : fields.getFirst(ID_FIELD);
        messages.accept(new Received(
                lastToken(message.getSubject()),
                message.getData(),
                message.metaData().streamSequence(),
                id == null ? "" : id));
    }

    private void endSubscription() {
        Dispatcher before = dispatcher;
        dispatcher = null;
        if (before != null && isConnected()) {
            connection.closeDispatcher(before);
        }
    }

    @Override
    public CompletableFuture<Long> publish(byte[] body, String id) {
        Headers fields = new Headers().put(ID_FIELD, id);
        try {
            return publish(body, fields);
        } catch (IllegalStateException e) {
            // No server is connected.
            return CompletableFuture.failedFuture(new IOException(e.getMessage(), e));
        }
    }

    private CompletableFuture<Long> publish(byte[] body, Headers fields) {
        return jetStream
                .publishAsync(
                        "millrace." + settings.name() + ".purge." + settings.node(),
                        fields,
                        body,
                        PublishOptions.builder().expectedStream(stream).build())
                .thenApply(PublishAck::getSeqno);
    }

    @Override
    public CompletableFuture<byte[]> ask(String node, byte[] query, Duration timeout) {
        try {
            return connection
                    .requestWithTimeout("millrace." + settings.name() + ".ask." + node, query, timeout)
                    .thenApply(Message::getData);
        } catch (IllegalStateException e) {
            return CompletableFuture.failedFuture(new IOException(e.getMessage(), e));
        }
    }

    @Override
    public void onAsk(Function<byte[], CompletionStage<byte[]>> answers) {
        Dispatcher queries = connection.createDispatcher(message -> {
            String to = message.getReplyTo();
            if (to != null) {
                answers.apply(message.getData()).whenComplete((answer, failure) -> answer(to, answer));
            }
        });
        queries.subscribe("millrace." + settings.name() + ".ask." + settings.node());
    }

    @Override
    public ConfigStore configStore() throws FleetException, IOException {
        return NatsConfigStore.open(connection, settings);
    }

    private void answer(String to, byte @Nullable [] answer) {
        try {
            connection.publish(to, answer);
        } catch (IllegalStateException | IllegalArgumentException e) {
            LOG.debug("the answer to a query of another node was lost: {}", e.getMessage());
        }
    }

    @Override
    public void report(byte[] report) {
        try {
            connection.publish("millrace." + settings.name() + ".node." + settings.node(), report);
        } catch (IllegalStateException e) {
            LOG.debug("a report was lost, because no server is connected: {}", e.getMessage());
        }
    }

    @Override
    public void onReport(BiConsumer<String, byte[]> next) {
        receiver = next;
    }

    @Override
    public void close() {
        try {
            if (isConnected()) {
                connection.flush(Duration.ofSeconds(1));
            }
            connection.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException e) {
            LOG.debug("the last report may be lost");
        }
    }
}
