package io.millrace.proxy.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoreStatistics.State;
import io.netty.channel.DefaultEventLoop;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DiskWatchTest {
    private final DefaultEventLoop loop = new DefaultEventLoop();
    private final List<Event> events = new ArrayList<>();
    private List<StoreStatistics.Volume> volumes = List.of();
    private final DiskWatch watch = new DiskWatch(loop, () -> volumes, events::add, () -> 7);

    private static final String EFFECT = "; its responses are not available, all others are served";

    @AfterEach
    void close() {
        watch.close();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    private static StoreStatistics.Volume volume(String path, State state, @Nullable String error) {
        return new StoreStatistics.Volume(
                Path.of(path), "default", 1, state, 0, 0, 0, 0, 0, 0, 0, error, StoreStatistics.Ring.NONE);
    }

    private void check(State first, State second, @Nullable String error) {
        volumes = List.of(volume("/a", first, null), volume("/b", second, error));
        watch.check();
    }

    @Test
    void changesAreReportedOnce() {
        check(State.ONLINE, State.OPENING, null);
        check(State.ONLINE, State.ONLINE, null);
        check(State.ONLINE, State.OFFLINE, "/b: I/O error");
        check(State.ONLINE, State.OFFLINE, "I/O error");
        check(State.ONLINE, State.OPENING, "I/O error");
        check(State.ONLINE, State.ONLINE, null);
        assertEquals(
                List.of(
                        new Event(7, EventKind.DISK_OFFLINE, "/b", "out of use: I/O error" + EFFECT),
                        new Event(7, EventKind.DISK_ONLINE, "/b", "in use again")),
                events);
    }

    @Test
    void pathThatIsOfflineAtTheStartIsReportedAndAReleasedOneIsNot() {
        check(State.SUSPENDED, State.OFFLINE, null);
        assertEquals(
                List.of(new Event(
                        7, EventKind.DISK_OFFLINE, "/b", "out of use: taken offline by an operator" + EFFECT)),
                events);
    }
}
