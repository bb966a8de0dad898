package io.millrace.launcher.fleet;

import io.millrace.launcher.fleet.config.ConfigStore;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.purge.fleet.FleetCodec;
import io.millrace.proxy.purge.fleet.GapCheck.StreamState;
import io.nats.client.Connection;
import io.nats.client.Dispatcher;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.JetStreamSubscription;
import io.nats.client.Message;
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
import java.io.IOException;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection to NATS servers with JetStream. Subjects are {@code millrace.FLEET.purge.NODE} for the stream, {@code
 * millrace.FLEET.node.NODE} for reports, and {@code millrace.FLEET.ask.NODE} for queries.
 */
final class NatsLink implements FleetLink {
    private static final Logger LOG = LoggerFactory.getLogger(NatsLink.class);

    /** Time for which the stream keeps messages. A node that was away longer has a gap. */
    private static final Duration KEPT = Duration.ofDays(7);
    /** Time for which the server recognizes a message that is sent again. */
    private static final Duration DUPLICATES = Duration.ofMinutes(2);
    /** Time after which the server deletes the ephemeral consumer of a node that is no longer connected. */
    private static final Duration CONSUMER_KEPT = Duration.ofSeconds(30);

    private static final int NOT_FOUND = 404;
    private static final int SERVER_ERROR = 500;
    private static final String ID_FIELD = "Nats-Msg-Id";
    /**
     * Header field with the expected name of the stream. The server rejects the message if its stream has another name.
     */
    private static final String EXPECTED_STREAM_FIELD = "Nats-Expected-Stream";

    private final FleetConfig settings;
    private final Connection connection;
    private final AtomicLong connections;
    private final NatsProblems problems;
    private final JetStream jetStream;
    private final JetStreamManagement management;
    private final String stream;
    private final String subjects;
    private final Dispatcher reports;
    private @Nullable Dispatcher dispatcher;
    private volatile BiConsumer<String, byte[]> receiver = (node, report) -> {};

    private NatsLink(FleetConfig settings, Connection connection, NatsConnector connector) throws IOException {
        this.settings = settings;
        this.connection = connection;
        this.connections = connector.connections();
        this.problems = connector.problems();
        this.jetStream = connection.jetStream();
        this.management = connection.jetStreamManagement();
        this.stream = "MILLRACE_" + settings.name();
        this.subjects = "millrace." + settings.name() + ".purge.*";
        this.reports = connection.createDispatcher(
                message -> receiver.accept(lastToken(message.getSubject()), message.getData()));
        reports.subscribe(reportSubjects());
    }

    private String reportSubjects() {
        return "millrace." + settings.name() + ".node.*";
    }

    private String ownSubject() {
        return "millrace." + settings.name() + ".purge." + settings.node();
    }

    private static String lastToken(String subject) {
        return subject.substring(subject.lastIndexOf('.') + 1);
    }

    static FleetLink open(FleetConfig settings) throws FleetException, IOException, InterruptedException {
        NatsConnector connector = new NatsConnector(settings);
        Connection connection = connector.connect();
        try {
            NatsLink link = new NatsLink(settings, connection, connector);
            link.createStream();
            return link;
        } catch (FleetException e) {
            connection.close();
            throw e;
        } catch (IOException | RuntimeException e) {
            // A server does not answer a message that it refuses, so the request has timed out.
            String missing = connector.problems().missingPermissions();
            connection.close();
            if (!missing.isEmpty()) {
                throw new FleetException(missing + "; " + e.getMessage());
            }
            throw e;
        }
    }

    /** A request to the servers. */
    @FunctionalInterface
    private interface Request<T> {
        T send() throws IOException, JetStreamApiException;
    }

    /**
     * Sends a request. The client reports a lost connection with an IllegalStateException; this method throws an
     * IOException instead.
     */
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
                StreamConfiguration newStream = StreamConfiguration.builder()
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
                request(() -> management.addStream(newStream));
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
            throw new FleetException("stream " + stream + " has the wrong settings: " + fault);
        }
    }

    @Override
    public boolean isConnected() {
        return connection.getStatus() == Connection.Status.CONNECTED;
    }

    @Override
    public boolean isClosed() {
        return connection.getStatus() == Connection.Status.CLOSED;
    }

    @Override
    public String problem() {
        if (isConnected()) {
            return problems.missingPermissions();
        }
        String refused = problems.refusedConnections();
        return refused.isEmpty() ? NatsConnector.noServer(settings, problems) : refused;
    }

    @Override
    public void checkPermissions() {
        problems.checked();
        try {
            connection.publish(ownSubject(), null, new Headers().put(EXPECTED_STREAM_FIELD, "none"), new byte[0]);
            if (problems.refusesSubscription(reportSubjects())) {
                reports.unsubscribe(reportSubjects());
                reports.subscribe(reportSubjects());
            }
        } catch (IllegalStateException e) {
            LOG.debug("the permissions are not checked, because no server is connected: {}", e.getMessage());
        }
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
        // The text contains the time at which the server became the leader. So it also changes if the same server
        // becomes the leader again.
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
        // Of the messages that wait for the receiver, the number is not limited, but the size: 64 MiB.
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
                        ownSubject(),
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
    public String queryRefusal(String node) {
        return problems.queryRefusal(node);
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
        return NatsConfigStore.open(connection, settings, problems::refusedConfig);
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
