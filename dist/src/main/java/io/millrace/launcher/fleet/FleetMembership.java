package io.millrace.launcher.fleet;

import io.millrace.launcher.fleet.config.ConfigFollower;
import io.millrace.launcher.fleet.config.ConfigTargets;
import io.millrace.proxy.admin.fleet.FleetConfigResource;
import io.millrace.proxy.admin.fleet.FleetPurgeResource;
import io.millrace.proxy.admin.fleet.FleetReadResource;
import io.millrace.proxy.admin.fleet.FleetSource;
import io.millrace.proxy.admin.fleet.FleetStatusResource;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.observe.alarm.Alarm;
import io.millrace.proxy.observe.alarm.AlarmKind;
import io.millrace.proxy.observe.event.EventSink;
import io.millrace.proxy.origin.FleetMembersFile;
import io.millrace.proxy.purge.fleet.FleetOutboxFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The membership of this node in a fleet: nodes that exchange purges over NATS. One thread connects to the NATS
 * servers, publishes the outbox (the file of this node's unpublished purges), and passes purges of other nodes to the
 * worker. Until a configuration has the section {@code fleet}, there is no thread and no class of the NATS client.
 * After a reload without the section, the thread waits for a reload that adds it.
 *
 * <p>Thread-safe.
 */
public final class FleetMembership implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FleetMembership.class);

    /** Pause after a round without work. A wake-up, such as after a change of the outbox, ends it earlier. */
    private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    /** Pause after a round in which the servers or the worker did not answer. */
    private static final long WORKER_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    /** Pause after an attempt to connect that no server answered. */
    private static final long CONNECT_RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Pause after a failure that lasts until an operator changes something. */
    private static final long REFUSED_RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** Time limit of {@link #close}. */
    private static final long CLOSE_MILLIS = 3000;

    private final Path directory;
    private final FleetOutboxFile outbox;
    private final FleetState state;
    private final String version;
    private final FleetLink.Opener opener;
    private final NodeReads reads;
    private final ConfigSharing sharing;
    private final RingMembers ring;
    private volatile BooleanSupplier draining = () -> false;
    private volatile @Nullable WorkerPurges worker;
    private volatile @Nullable FleetConfig settings;
    private volatile boolean closed;
    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock. */
    private @Nullable Thread thread;

    /**
     * @param directory the directory of the outbox, shared with the workers
     * @param version version of the product, for other nodes
     */
    public FleetMembership(Path directory, EventSink events, String version) {
        this(directory, events, version, System::currentTimeMillis, settings -> NatsLink.open(settings));
    }

    FleetMembership(
            Path directory, EventSink events, String version, LongSupplier clockMillis, FleetLink.Opener opener) {
        this.directory = directory;
        this.outbox = new FleetOutboxFile(directory);
        this.state = new FleetState(events, clockMillis);
        this.reads = new NodeReads(state.figures, state::mayHaveNode);
        this.ring = new RingMembers(new FleetMembersFile(directory), state);
        this.sharing = new ConfigSharing(directory, state, System::nanoTime);
        this.version = version;
        this.opener = opener;
    }

    /** Sets the access to the serving worker. Call before {@link #apply}. */
    public void setWorker(WorkerPurgesOverSocket purges) {
        worker = purges;
    }

    /** Sets the access to the configuration of this node. Call before {@link #apply}. */
    public void setConfig(ConfigTargets targets) {
        sharing.setTargets(targets);
    }

    /**
     * Sets the function that reads the number and results of the requests that the worker has answered. Call before
     * {@link #apply}.
     */
    public void setTraffic(ConfigFollower.Traffic traffic) {
        sharing.setTraffic(traffic);
    }

    /**
     * Sets the function that returns whether this node drains, so that other nodes send it no requests. Call before
     * {@link #apply}.
     */
    public void setDraining(BooleanSupplier drains) {
        draining = drains;
    }

    /** Makes the node try a rejected revision of the fleet's configuration again. */
    public void retry() {
        sharing.retry();
    }

    /** Sets the function that queries the admin API of this node. Call before {@link #apply}. */
    public void setLocalQueries(NodeReads.Local queries) {
        reads.setLocal(queries);
    }

    void setWorker(WorkerPurges purges) {
        worker = purges;
    }

    FleetSource.Status status() {
        return new FleetView(state).status();
    }

    /** Returns the resources for the launcher's admin API. */
    public List<AdminResource> resources() {
        FleetView view = new FleetView(state);
        List<AdminResource> resources = new ArrayList<>(
                List.of(new FleetStatusResource(view), new FleetPurgeResource(view), new FleetReadResource(reads)));
        resources.addAll(FleetConfigResource.all(sharing.pushes()));
        return resources;
    }

    /** Returns the metrics in the text format of Prometheus; empty without a fleet. */
    public String prometheusText() {
        if (settings == null) {
            return "";
        }
        long now = state.nowMillis();
        int live = state.nodes.live(now);
        int notLeft = (int) state.nodes.all().stream()
                .filter(heard -> !heard.report().leaving())
                .count();
        return state.figures.prometheusText(state.isConnected() && !state.isRefused(), live, notLeft - live)
                + FleetFigures.ringText(ring.countsByTier())
                + FleetFigures.configText(state.config, sharing.revision());
    }

    /** Returns the alarms of this node: it is not connected to its fleet, or it rejects the fleet's configuration. */
    public List<Alarm> alarms() {
        FleetConfig present = settings;
        List<Alarm> alarms = new ArrayList<>();
        if (present != null && state.isDownTooLong()) {
            alarms.add(new Alarm(AlarmKind.FLEET_DOWN, present.name(), FleetView.problem(state, present), -1));
        }
        Alarm ofConfig = present == null ? null : state.config.alarm(present.name());
        if (ofConfig != null) {
            alarms.add(ofConfig);
        }
        return alarms;
    }

    /**
     * Announces settings that {@link #apply} puts in force when a worker serves. Call before the admin API starts, and
     * at each change before a worker serves.
     */
    public void announce(@Nullable FleetConfig next) {
        state.announce(next);
    }

    /** Puts the settings of a configuration in force. Connects again if they have changed. */
    public void apply(@Nullable FleetConfig changed) {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            if (Objects.equals(changed, settings)) {
                // Other settings may have been announced, and removed before a worker served.
                state.announce(null);
                return;
            }
            settings = changed;
            state.changeSettings(changed);
            Thread running = thread;
            if (running == null) {
                running = new Thread(this::run, "millrace-fleet");
                running.setDaemon(true);
                thread = running;
                running.start();
            } else {
                LockSupport.unpark(running);
            }
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        while (!closed) {
            FleetConfig present = settings;
            if (present == null) {
                LockSupport.park(this);
                continue;
            }
            try (FleetLink link = opener.open(present)) {
                serve(present, link);
            } catch (FleetException e) {
                if (!String.valueOf(e.getMessage()).equals(state.problem())) {
                    LOG.error("fleet {}: {}", present.name(), e.getMessage());
                }
                state.setDisconnected(String.valueOf(e.getMessage()));
                pause(present, REFUSED_RETRY_NANOS);
            } catch (IOException e) {
                LOG.debug("fleet {}", present.name(), e);
                state.setDisconnected(String.valueOf(e.getMessage()));
                pause(present, CONNECT_RETRY_NANOS);
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException e) {
                LOG.error("fleet {}", present.name(), e);
                state.setDisconnected(e.toString());
                pause(present, REFUSED_RETRY_NANOS);
            } finally {
                reads.end();
                sharing.end();
            }
        }
    }

    private void serve(FleetConfig present, FleetLink link) throws IOException, FleetException, InterruptedException {
        WorkerPurges purges = Objects.requireNonNull(worker, "worker");
        Thread fleetThread = Thread.currentThread();
        FleetSession session =
                new FleetSession(present, link, purges, state, outbox, version, () -> LockSupport.unpark(fleetThread));
        session.onRequests(() -> !draining.getAsBoolean() && !purges.target().isEmpty());
        try (OutboxPublisher publishing = new OutboxPublisher(present, link, outbox, state)) {
            session.onOwnMessages(publishing::received);
            try (OutboxWatch watch = OutboxWatch.begin(directory, () -> LockSupport.unpark(fleetThread))) {
                LOG.debug("fleet {}: the outbox is {}", present.name(), watch.isActive() ? "watched" : "polled");
                serve(present, link, session, publishing, watch);
            }
            session.end(!isSameMember(present, closed ? null : settings));
            publishing.end();
        }
    }

    /**
     * Returns true if this node is still the same member with its new settings: the names of fleet and node are the
     * same. It then does not tell the other nodes that it leaves. If it cannot connect with the new settings, they must
     * see it as away, and not as having left.
     */
    private static boolean isSameMember(FleetConfig before, @Nullable FleetConfig now) {
        return now != null && now.name().equals(before.name()) && now.node().equals(before.node());
    }

    private void serve(
            FleetConfig present, FleetLink link, FleetSession session, OutboxPublisher publishing, OutboxWatch watch)
            throws IOException, FleetException, InterruptedException {
        WorkerPurges purges = Objects.requireNonNull(worker, "worker");
        ring.begin(present);
        reads.begin(present, link);
        sharing.begin(present);
        while (!closed && present.equals(settings)) {
            boolean worked = false;
            try {
                worked = session.step();
            } catch (IOException e) {
                LOG.debug("fleet {}", present.name(), e);
                state.setDisconnected(String.valueOf(e.getMessage()));
                LockSupport.parkNanos(this, WORKER_RETRY_NANOS);
            }
            ring.step(present, purges);
            sharing.step(link);
            watch.check(state.nowMillis());
            worked |= publishing.step(session.subscriptions(), session.position());
            if (!worked) {
                LockSupport.parkNanos(this, IDLE_NANOS);
            }
        }
    }

    /** Waits until the time has passed or the settings change. */
    private void pause(FleetConfig present, long nanos) {
        long end = System.nanoTime() + nanos;
        while (!closed && present.equals(settings) && end - System.nanoTime() > 0) {
            LockSupport.parkNanos(this, end - System.nanoTime());
        }
    }

    /** Tells the other nodes that this node leaves, and closes the connection. Blocks for at most 3 s. */
    @Override
    public void close() {
        Thread running;
        lock.lock();
        try {
            closed = true;
            running = thread;
        } finally {
            lock.unlock();
        }
        if (running == null) {
            return;
        }
        LockSupport.unpark(running);
        try {
            running.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
