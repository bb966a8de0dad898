package io.millrace.proxy.net;

import io.millrace.proxy.memory.SlowClients;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client connections of one event loop, with their limit, deadline checks and drain. One periodic tick checks the
 * deadlines of all connections, so that requests need no timers of their own. A timeout fires at most two ticks of
 * {@value #TICK_MILLIS} ms late.
 *
 * <p>Confined to its event loop, except {@link #size}.
 */
public final class ConnectionSet {
    private static final Logger log = LoggerFactory.getLogger(ConnectionSet.class);

    /** Interval of the deadline checks. */
    static final long TICK_MILLIS = 250;

    /**
     * Time after the start of a drain before idle connections are closed. A request may be on its way, and an
     * immediate close would lose it (RFC 9112 s9.6).
     */
    static final long IDLE_GRACE_MILLIS = 1000;

    /** Time within which a gradual drain tells all connections to end. */
    private static final long GRADUAL_MILLIS = 1000;

    /** A drain with a shorter limit is not gradual, so that connections have time to end. */
    public static final long GRADUAL_DRAIN_MIN_NANOS =
            TimeUnit.MILLISECONDS.toNanos(GRADUAL_MILLIS + 2 * IDLE_GRACE_MILLIS);

    /** Interval at which a gradual drain tells further connections. */
    private static final long DRAIN_STEP_MILLIS = 20;

    /** Counts connections by client. */
    public interface Clients {
        /** Counts nothing and has no limit. */
        Clients NOT_COUNTED = new Clients() {
            @Override
            public boolean admit(ClientConnection connection) {
                return true;
            }

            @Override
            public void onClosed(ClientConnection connection) {}
        };

        /** Counts a new connection. Returns false, without counting it, if the client has reached its limit. */
        boolean admit(ClientConnection connection);

        /** Called when an admitted connection was closed. */
        void onClosed(ClientConnection connection);
    }

    /** A connection in the set. */
    public interface Member {
        /** Checks the deadlines of the connection. */
        void onTick(long nowNanos);

        /**
         * Ends the connection after the response to the current or next request. Called with false first, and with true
         * at the end of the grace period.
         *
         * @param closesIdle whether a connection without a request is closed immediately
         */
        void onDrain(boolean closesIdle);

        /** Closes the connection immediately. */
        void onClose();

        /** Adds the connection to {@code slow} if bytes wait for its client. */
        default void addIfBehind(SlowClients slow, long nowNanos) {}

        /**
         * The client of the connection; null until it is known. Connections without a known client are not counted by
         * client.
         */
        default @Nullable ClientConnection client() {
            return null;
        }

        /** The index in the set, maintained by the set. */
        int slot();

        /** Sets the index. Called by the set only. */
        void slot(int slot);
    }

    private final EventLoop loop;
    private final IntSupplier limit;
    private final List<Member> members = new ArrayList<>();
    private final Runnable onRefused;
    private final Clients clients;
    private volatile int size;
    /** Tasks of {@link #atEndOfIteration}. */
    private final ArrayDeque<Runnable> lateTasks = new ArrayDeque<>();

    private final Runnable runLate = this::runLateTasks;
    private boolean lateQueued;
    /** True once a drain has begun. */
    private boolean draining;

    private boolean closingAfterAnswers;
    /** True once the drain has told every connection to end. */
    private boolean allDraining;
    /** True once the grace period of idle connections has ended. */
    private boolean closesIdle;

    @Nullable
    private Runnable onEmpty;

    @Nullable
    private SlowClients slowClients;

    private io.netty.util.concurrent.@Nullable Future<?> ticking;

    /** Creates a set with a constant limit. */
    public ConnectionSet(EventLoop loop, int limit, Runnable onRefused) {
        this(loop, () -> limit, onRefused);
    }

    /**
     * @param limit limit of connections of this loop, read at each new connection
     * @param onRefused run for each connection beyond the limit
     */
    public ConnectionSet(EventLoop loop, IntSupplier limit, Runnable onRefused) {
        this(loop, limit, onRefused, Clients.NOT_COUNTED);
    }

    /**
     * Creates a set that counts connections by client.
     *
     * @param clients counts by client
     */
    public ConnectionSet(EventLoop loop, IntSupplier limit, Runnable onRefused, Clients clients) {
        this.clients = clients;
        this.loop = loop;
        this.limit = limit;
        this.onRefused = onRefused;
    }

    /**
     * Runs a task at the end of the loop's iteration. All these tasks of an iteration are submitted to the loop as one
     * task: adding a task to the loop's thread-safe queue costs more than the flush of an idle socket.
     */
    public void atEndOfIteration(Runnable task) {
        lateTasks.add(task);
        if (!lateQueued) {
            lateQueued = true;
            loop.execute(runLate);
        }
    }

    private void runLateTasks() {
        lateQueued = false;
        try {
            // Tasks that these tasks add wait for the next iteration, so that a fast reader cannot keep the loop busy.
            for (int remaining = lateTasks.size(); remaining > 0; remaining--) {
                lateTasks.remove().run();
            }
        } finally {
            if (!lateTasks.isEmpty() && !lateQueued) {
                // A task threw an exception, which the loop logs. It must not stop the others.
                lateQueued = true;
                loop.execute(runLate);
            }
        }
    }

    /** Sets the policy that closes slow clients when a resource is scarce. Call before the first connection. */
    public void slowClients(SlowClients slow) {
        slowClients = slow;
    }

    /** The policy that closes slow clients when a resource is scarce; null if disabled. */
    public @Nullable SlowClients slowClients() {
        return slowClients;
    }

    /** Closes slow clients if a resource is scarce. Call on the loop, but not within a connection's event. */
    public void closeSlowNow() {
        SlowClients slow = slowClients;
        if (slow == null) {
            return;
        }
        long nowNanos = System.nanoTime();
        for (Member member : members) {
            member.addIfBehind(slow, nowNanos);
        }
        slow.closeSome(nowNanos);
    }

    /** Starts the deadline checks. Call once, from any thread. */
    public void start() {
        ticking = loop.scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Stops the deadline checks and closes the connections. */
    public void close() {
        if (ticking != null) {
            ticking.cancel(false);
        }
        for (Member member : List.copyOf(members)) {
            callSafely(member, Member::onClose);
        }
    }

    /**
     * Adds a connection.
     *
     * @return false if the limit of the loop or of the client is reached; the caller then closes the connection
     */
    public boolean add(Member member) {
        if (members.size() >= limit.getAsInt()) {
            onRefused.run();
            return false;
        }
        ClientConnection client = member.client();
        if (client != null && !clients.admit(client)) {
            return false;
        }
        member.slot(members.size());
        members.add(member);
        size = members.size();
        return true;
    }

    /** Removes a connection; it must be in the set. */
    public void remove(Member member) {
        int slot = member.slot();
        Member last = members.remove(members.size() - 1);
        if (last != member) {
            members.set(slot, last);
            last.slot(slot);
        }
        member.slot(-1);
        size = members.size();
        ClientConnection client = member.client();
        if (client != null) {
            clients.onClosed(client);
        }
        if (draining && members.isEmpty()) {
            // Deferred, because a connection that changes its protocol is removed as one member and added again as
            // another.
            loop.execute(this::notifyIfEmpty);
        }
    }

    private void notifyIfEmpty() {
        Runnable listener = onEmpty;
        if (listener != null && members.isEmpty()) {
            onEmpty = null;
            listener.run();
        }
    }

    /** Replaces a member by another member for the same connection. The old member must be in the set. */
    public void replace(Member old, Member replacement) {
        int slot = old.slot();
        members.set(slot, replacement);
        replacement.slot(slot);
        old.slot(-1);
    }

    /**
     * Ends every connection after its current request. Ends idle connections after {@value #IDLE_GRACE_MILLIS}
     * ms. Runs {@code whenEmpty} once on this loop, when no connection is left.
     *
     * @param onNoFurtherRequest runs at most once on this loop, when the open connections accept no further request.
     *     A connection on which no request has arrived yet may still accept its first request. Not run if
     *     {@code whenEmpty} was run before
     */
    public void drain(Runnable onNoFurtherRequest, Runnable whenEmpty) {
        draining = true;
        allDraining = true;
        onEmpty = whenEmpty;
        drainAll(false);
        notifyIfEmpty();
        if (!members.isEmpty()) {
            loop.schedule(() -> endIdle(onNoFurtherRequest), IDLE_GRACE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /**
     * Drains like {@link #drain}, but ends the connections one after another within {@value #GRADUAL_MILLIS} ms, few at
     * first. A connection whose turn has not come answers further requests. So a successor process that has just
     * started gets the requests of these clients step by step. Idle connections are closed {@value #IDLE_GRACE_MILLIS}
     * ms later.
     *
     * @param onNoFurtherRequest runs once on this loop, when the open connections accept no further request. A
     *     connection on which no request has arrived yet may still accept its first request
     */
    public void drainGradually(Runnable onNoFurtherRequest, Runnable whenEmpty) {
        draining = true;
        onEmpty = whenEmpty;
        if (members.isEmpty()) {
            allDraining = true;
            closesIdle = true;
            onNoFurtherRequest.run();
            notifyIfEmpty();
        } else {
            drainStep(members.size(), loop.ticker().nanoTime(), onNoFurtherRequest);
        }
    }

    /**
     * Ends the connections whose turn has come: those with the highest indexes in the set, including new connections.
     *
     * @param atStart number of connections at the start of the drain
     */
    private void drainStep(int atStart, long startNanos, Runnable onNoFurtherRequest) {
        long millis = TimeUnit.NANOSECONDS.toMillis(loop.ticker().nanoTime() - startNanos);
        if (millis >= GRADUAL_MILLIS) {
            allDraining = true;
            drainAll(false);
            loop.schedule(() -> endIdle(onNoFurtherRequest), IDLE_GRACE_MILLIS, TimeUnit.MILLISECONDS);
            return;
        }
        loop.schedule(
                () -> drainStep(atStart, startNanos, onNoFurtherRequest), DRAIN_STEP_MILLIS, TimeUnit.MILLISECONDS);
        int kept = atStart - (int) (atStart * millis * millis / (GRADUAL_MILLIS * GRADUAL_MILLIS));
        for (int i = members.size() - 1; i >= kept; i--) {
            // A connection that ends may remove itself.
            if (i < members.size()) {
                drain(members.get(i), false);
            }
        }
    }

    private void endIdle(Runnable onNoFurtherRequest) {
        drainAll(true);
        onNoFurtherRequest.run();
    }

    private void drainAll(boolean idleToo) {
        closesIdle = idleToo;
        for (Member member : List.copyOf(members)) {
            drain(member, idleToo);
        }
    }

    private static void drain(Member member, boolean idleToo) {
        if (!callSafely(member, each -> each.onDrain(idleToo))) {
            callSafely(member, Member::onClose);
        }
    }

    /** Sets whether every connection, including new ones, ends after its next response. Idle connections stay open. */
    public void closeAfterAnswers(boolean enabled) {
        closingAfterAnswers = enabled;
    }

    /** Returns true if connections end after their current request, at the latest after the grace period. */
    public boolean isDraining() {
        return draining || closingAfterAnswers;
    }

    /** Returns true if every connection ends after its current request. */
    public boolean closesAfterRequest() {
        return allDraining || closingAfterAnswers;
    }

    /** Returns true if idle connections are closed: a drain has begun and their grace period has ended. */
    public boolean closesIdle() {
        return closesIdle;
    }

    /** Current number of connections. Callable from any thread. */
    public int size() {
        return size;
    }

    private void tick() {
        long nowNanos = System.nanoTime();
        for (int i = members.size() - 1; i >= 0; i--) {
            if (i < members.size()) {
                tick(members.get(i), nowNanos);
            }
        }
        closeSlowSafely();
    }

    /** Calls a member. Logs an exception and returns false, so that the other members are still called. */
    private static boolean callSafely(Member member, Consumer<Member> action) {
        try {
            action.accept(member);
            return true;
        } catch (RuntimeException e) {
            log.error("an internal error occurred while a connection ended", e);
            return false;
        }
    }

    /** Closes slow clients. Catches exceptions, which would end the periodic deadline checks. */
    private void closeSlowSafely() {
        try {
            closeSlowNow();
        } catch (RuntimeException e) {
            log.error("slow clients could not be closed because of an internal error", e);
        }
    }

    /** Checks the deadlines of a connection. Catches exceptions, which would end the checks of all connections. */
    private static void tick(Member member, long nowNanos) {
        try {
            member.onTick(nowNanos);
        } catch (RuntimeException e) {
            log.error("connection closed after an internal error at its deadline", e);
            member.onClose();
        }
    }
}
