package io.millrace.launcher.fleet;

import io.millrace.launcher.fleet.config.ConfigStore;
import io.millrace.launcher.fleet.config.FakeStore;
import io.millrace.proxy.admin.fleet.FleetBatch;
import io.millrace.proxy.admin.fleet.FleetService.Outcome;
import io.millrace.proxy.purge.fleet.FleetMessage;
import io.millrace.proxy.purge.fleet.FleetPosition;
import io.millrace.proxy.purge.fleet.FleetPurge;
import io.millrace.proxy.purge.fleet.GapCheck.StreamState;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A stream in memory, links to it, and workers that remember what they applied. Confined to one thread. */
final class FakeFleet {
    final Map<Long, FleetLink.Received> stream = new TreeMap<>();
    final List<Link> links = new ArrayList<>();
    /** Identifiers that the stream has acknowledged, with the epoch in which this happened first. */
    final Map<String, Long> acknowledged = new LinkedHashMap<>();

    final FakeStore store = new FakeStore();
    String created = "c1";
    long last;
    long epoch;
    long lastAgeMillis;
    private int creations = 1;
    private int leaders;

    StreamState state() {
        long first = stream.isEmpty() ? last + 1 : ((TreeMap<Long, FleetLink.Received>) stream).firstKey();
        return new StreamState(created, first, last, "leader " + leaders, lastAgeMillis);
    }

    void truncate(int count) {
        for (int i = 0; i < count && !stream.isEmpty(); i++) {
            stream.remove(((TreeMap<Long, FleetLink.Received>) stream).firstKey());
        }
    }

    void recreate() {
        stream.clear();
        last = 0;
        creations++;
        created = "c" + creations;
        links.forEach(Link::unsubscribe);
    }

    /**
     * Loses the latest messages: if cut, as servers do that restart from an older state; otherwise as a cluster does
     * whose new leader lacks them, while consumers go on with the next numbers.
     */
    void rollBack(int count, boolean isCut) {
        for (int i = 0; i < count && !stream.isEmpty(); i++) {
            long lost = ((TreeMap<Long, FleetLink.Received>) stream).lastKey();
            stream.remove(lost);
            last = lost - 1;
        }
        leaders++;
        if (isCut) {
            links.forEach(Link::cut);
            links.forEach(link -> link.up = true);
        }
    }

    long publish(String node, byte[] body, String id) {
        for (FleetLink.Received known : stream.values()) {
            if (known.id().equals(id)) {
                return known.sequence();
            }
        }
        last++;
        epoch++;
        FleetLink.Received message = new FleetLink.Received(node, body, last, id);
        stream.put(last, message);
        lastAgeMillis = 0;
        acknowledged.putIfAbsent(id, epoch);
        links.forEach(link -> link.deliver(message));
        return last;
    }

    /** The connection of one node. */
    final class Link implements FleetLink {
        private final String node;
        private @Nullable Consumer<Received> receiver;
        private BiConsumer<String, byte[]> reports = (sender, report) -> {};
        private Function<byte[], CompletionStage<byte[]>> answers =
                query -> CompletableFuture.failedFuture(new IOException("not ready"));
        private long next;
        private long connections = 1;
        boolean up = true;
        /** Whether the client has ended its attempts to connect. */
        boolean closed;
        /** Permissions that the servers refuse. */
        String refusal = "";
        /** Fault of the stream; null for none. */
        @Nullable
        FleetException fault;

        int checks;

        Link(String node) {
            this.node = node;
            links.add(this);
        }

        void unsubscribe() {
            receiver = null;
        }

        void cut() {
            up = false;
            receiver = null;
            connections++;
        }

        void deliver(Received message) {
            Consumer<Received> to = receiver;
            if (up && to != null && message.sequence() >= next) {
                next = message.sequence() + 1;
                to.accept(message);
            }
        }

        @Override
        public boolean isConnected() {
            return up;
        }

        @Override
        public boolean isClosed() {
            return closed;
        }

        @Override
        public String problem() {
            return up ? refusal : "no server";
        }

        @Override
        public void checkPermissions() {
            checks++;
        }

        @Override
        public long connections() {
            return connections;
        }

        @Override
        public StreamState state() throws FleetException {
            if (fault != null) {
                throw fault;
            }
            return FakeFleet.this.state();
        }

        @Override
        public @Nullable String idAt(long sequence) {
            Received message = stream.get(sequence);
            return message == null ? null : message.id();
        }

        @Override
        public void follow(long from, Consumer<Received> messages) {
            receiver = messages;
            next = from;
            List.copyOf(stream.values()).forEach(this::deliver);
        }

        @Override
        public CompletableFuture<Long> publish(byte[] body, String id) {
            return up
                    ? CompletableFuture.completedFuture(FakeFleet.this.publish(node, body, id))
                    : CompletableFuture.failedFuture(new IOException("not connected"));
        }

        @Override
        public CompletableFuture<byte[]> ask(String to, byte[] query, Duration timeout) {
            for (Link link : links) {
                if (up && link.up && link.node.equals(to)) {
                    return link.answers.apply(query).toCompletableFuture();
                }
            }
            return CompletableFuture.failedFuture(new IOException("no responders"));
        }

        /** The refused permission to query a node; empty for none. */
        String queryRefusal = "";

        @Override
        public String queryRefusal(String to) {
            return queryRefusal;
        }

        @Override
        public void onAsk(Function<byte[], CompletionStage<byte[]>> next) {
            answers = next;
        }

        @Override
        public ConfigStore configStore() {
            return store;
        }

        @Override
        public void report(byte[] report) {
            if (up) {
                links.forEach(link -> {
                    if (link.up) {
                        link.reports.accept(node, report);
                    }
                });
            }
        }

        @Override
        public void onReport(BiConsumer<String, byte[]> next) {
            reports = next;
        }

        @Override
        public void close() {
            up = false;
        }
    }

    /** A worker whose journal survives the launcher. */
    final class Worker implements WorkerPurges {
        final Set<String> applied = new HashSet<>();
        /** Every message that was acknowledged up to this epoch is covered by a purge of everything. */
        long everythingUpTo = -1;

        int gaps;
        /** Applied messages about losses of the servers. */
        int losses;

        @Nullable
        FleetPosition position;

        boolean up = true;
        /** Whether the worker answers to a batch without a gap only when {@link #answer} is called. */
        boolean isSlow;
        /** Whether the worker refuses each batch because it applies an earlier one. */
        boolean isBusy;
        /** Number of batches received. */
        int batches;

        private final List<Runnable> answers = new ArrayList<>();

        @Override
        public @Nullable Outcome position() throws IOException {
            check();
            FleetPosition present = position;
            return present == null ? null : new Outcome(present, List.of());
        }

        private void check() throws IOException {
            if (!up) {
                throw new IOException("no worker serves");
            }
        }

        @Override
        public CompletableFuture<@Nullable Outcome> apply(FleetBatch batch) {
            try {
                check();
            } catch (IOException e) {
                return CompletableFuture.failedFuture(e);
            }
            batches++;
            if (isBusy) {
                return CompletableFuture.failedFuture(new BusyException());
            }
            Outcome outcome = applied(batch);
            if (!isSlow || batch.isGap()) {
                return CompletableFuture.completedFuture(outcome);
            }
            CompletableFuture<@Nullable Outcome> answer = new CompletableFuture<>();
            answers.add(() -> answer.complete(outcome));
            return answer;
        }

        /** Sends the answers to the batches that were applied while the worker was slow. */
        void answer() {
            List.copyOf(answers).forEach(Runnable::run);
            answers.clear();
        }

        private @Nullable Outcome applied(FleetBatch batch) {
            if (batch.after() == null ? position != null : !batch.after().equals(position)) {
                return null;
            }
            if (batch.isGap()) {
                gaps++;
                everythingUpTo = epoch;
            }
            for (FleetMessage message : batch.messages()) {
                applied.add(message.id());
                if (message.purge().action() == FleetPurge.Action.LOST) {
                    losses++;
                    everythingUpTo = epoch;
                }
            }
            position = batch.to();
            return new Outcome(batch.to(), List.of());
        }

        /** Name of the worker; empty while none serves. */
        String name = "worker 1";

        int membersRead;

        @Override
        public String target() {
            return up ? name : "";
        }

        @Override
        public void reloadMembers() throws IOException {
            check();
            membersRead++;
        }

        boolean covers(String id, long atEpoch) {
            return applied.contains(id) || everythingUpTo >= atEpoch;
        }
    }
}
