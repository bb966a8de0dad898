package io.millrace.launcher.fleet;

import io.millrace.launcher.fleet.config.ConfigFollower;
import io.millrace.launcher.fleet.config.ConfigPushes;
import io.millrace.launcher.fleet.config.ConfigStore;
import io.millrace.launcher.fleet.config.ConfigTargets;
import io.millrace.launcher.fleet.config.KeptRevision;
import io.millrace.proxy.admin.fleet.FleetConfigSource;
import io.millrace.proxy.config.fleet.ConfigPublicKey;
import io.millrace.proxy.config.fleet.FleetConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects this node with the shared configuration of its fleet. A {@link ConfigFollower} applies the revisions
 * (numbered versions) that nodes push, and the admin API can push new ones. Active while the node is connected and its
 * local file sets a public key. Confined to the thread of {@link FleetMembership}, except for the methods that are
 * marked as thread-safe.
 */
final class ConfigSharing {
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final Logger LOG = LoggerFactory.getLogger(ConfigSharing.class);

    private final Path directory;
    private final FleetState state;
    private final LongSupplier clockNanos;
    private final ConfigPushes pushes;
    private volatile @Nullable ConfigTargets targets;
    private volatile ConfigFollower.@Nullable Traffic traffic;
    private volatile boolean retryRequested;
    private @Nullable ConfigFollower follower;
    /**
     * The public key with which the follower verifies revisions, as it was read from the file; null without a follower.
     */
    private @Nullable PublicKey key;

    private @Nullable FleetConfig settings;
    private boolean hasFailed;
    private long failedAtNanos;

    /**
     * @param directory the directory of the fleet in the state directory
     * @param clockNanos monotonic clock in nanoseconds, such as {@link System#nanoTime}
     */
    ConfigSharing(Path directory, FleetState state, LongSupplier clockNanos) {
        this.directory = directory;
        this.state = state;
        this.clockNanos = clockNanos;
        pushes = new ConfigPushes(new FleetAccess(), state.config, this::retry);
    }

    void setTargets(ConfigTargets next) {
        targets = next;
    }

    void setTraffic(ConfigFollower.Traffic next) {
        traffic = next;
    }

    /**
     * Returns the source from which the admin API reads, and to which it pushes, the fleet's configuration.
     * Thread-safe.
     */
    FleetConfigSource pushes() {
        return pushes;
    }

    /** Returns the revision in force; 0 for none. Thread-safe. */
    long revision() {
        ConfigTargets present = targets;
        return present == null ? 0 : present.revision();
    }

    /**
     * Makes the next step read the public key and the head (the entry that names the revisions to apply), and try a
     * rejected revision again. Thread-safe.
     */
    void retry() {
        retryRequested = true;
    }

    void begin(FleetConfig present) {
        settings = present;
        hasFailed = false;
    }

    void end() {
        dropFollower();
        settings = null;
    }

    private void dropFollower() {
        follower = null;
        key = null;
        pushes.access(null);
    }

    /** Executes one round. Logs a failure; the rounds of the next 5 seconds then do nothing. */
    void step(FleetLink link) throws InterruptedException {
        FleetConfig present = settings;
        long now = clockNanos.getAsLong();
        if (present == null || present.configPublicKey() == null || !link.isConnected()) {
            return;
        }
        if (hasFailed && now - failedAtNanos < RETRY_NANOS && !retryRequested) {
            return;
        }
        try {
            if (retryRequested) {
                retryRequested = false;
                retryWithKeyOfFile(present);
            }
            ConfigFollower running = follower;
            if (running == null) {
                running = open(present, link);
                follower = running;
            }
            running.step(TimeUnit.NANOSECONDS.toMillis(now));
            hasFailed = false;
            state.config.problem("");
        } catch (IOException | FleetException e) {
            if (!hasFailed) {
                LOG.warn("fleet {}: the shared configuration cannot be read: {}", present.name(), e.getMessage());
            }
            hasFailed = true;
            failedAtNanos = now;
            state.config.problem(String.valueOf(e.getMessage()));
        }
    }

    /**
     * Makes the follower try again. If the file of the public key contains another key or none, drops the follower
     * instead. {@link #step} then tries to create another one.
     */
    private void retryWithKeyOfFile(FleetConfig present) throws IOException {
        ConfigFollower running = follower;
        if (running == null) {
            return;
        }
        PublicKey before = key;
        boolean isSame = false;
        try {
            isSame = ConfigPublicKey.read(Objects.requireNonNull(present.configPublicKey()))
                    .equals(before);
        } finally {
            if (!isSame) {
                dropFollower();
            }
        }
        if (isSame) {
            running.retry();
        }
    }

    private ConfigFollower open(FleetConfig present, FleetLink link) throws IOException, FleetException {
        ConfigTargets applied = Objects.requireNonNull(targets, "targets");
        PublicKey verifying = ConfigPublicKey.read(Objects.requireNonNull(present.configPublicKey()));
        KeptRevision kept = KeptRevision.open(directory);
        ConfigStore store = link.configStore();
        ConfigFollower opened = new ConfigFollower(
                present.name(),
                present.node(),
                store,
                verifying,
                kept,
                applied,
                Objects.requireNonNull(traffic, "traffic"),
                new ReportedNodes(present.node()),
                state.config);
        pushes.access(new ConfigPushes.Access(present.name(), store, verifying, applied));
        key = verifying;
        return opened;
    }

    /** The access of the follower to the reports of the fleet's nodes. */
    private final class ReportedNodes implements ConfigFollower.Members {
        private final String node;

        ReportedNodes(String node) {
            this.node = node;
        }

        @Override
        public boolean isFirst() {
            return node.equals(state.nodes.firstLive(state.nowMillis()));
        }

        @Override
        public long newest() {
            return state.nodes.newestRevision(state.nowMillis());
        }
    }

    /** The access of the admin API to the state of the fleet. Thread-safe. */
    private final class FleetAccess implements ConfigPushes.Fleet {
        @Override
        public String name() {
            FleetConfig present = state.configured();
            return present == null ? "" : present.name();
        }

        @Override
        public String node() {
            FleetConfig present = state.configured();
            return present == null ? "" : present.node();
        }

        @Override
        public boolean isOn() {
            FleetConfig present = state.configured();
            return present != null && present.configPublicKey() != null;
        }

        @Override
        public String problem() {
            if (state.isConnected()) {
                return "";
            }
            if (state.isStarting()) {
                return FleetView.STARTING;
            }
            return state.problem().isEmpty() ? "the NATS servers are not connected yet" : state.problem();
        }

        @Override
        public long revision() {
            return ConfigSharing.this.revision();
        }

        @Override
        public List<FleetConfigSource.Node> nodes() {
            long now = state.nowMillis();
            List<FleetConfigSource.Node> nodes = new ArrayList<>();
            for (NodeTable.Heard heard : state.nodes.all()) {
                NodeReport report = heard.report();
                nodes.add(new FleetConfigSource.Node(
                        report.node(),
                        report.tier(),
                        report.leaving() ? "left" : heard.isLive(now) ? "live" : "away",
                        report.config().revision(),
                        report.config().newest(),
                        report.config().state(),
                        report.config().reason()));
            }
            return nodes;
        }

        @Override
        public long newest() {
            return state.nodes.newestRevision(state.nowMillis());
        }
    }
}
