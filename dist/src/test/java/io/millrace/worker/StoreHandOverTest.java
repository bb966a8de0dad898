package io.millrace.worker;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.store.CacheStore;
import io.millrace.store.Successor;
import io.millrace.worker.control.ControlMessage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that a worker hands over its store when it is ordered to, and keeps or closes the store when no further order
 * arrives.
 */
@Timeout(60)
class StoreHandOverTest {
    private static final ControlMessage RELEASE = new ControlMessage.ReleaseStore();

    private final ExecutorService commands = Executors.newSingleThreadExecutor();
    private final Queue<ControlMessage> sent = new ConcurrentLinkedQueue<>();
    private final AtomicInteger drains = new AtomicInteger();
    private final AtomicInteger refusals = new AtomicInteger();
    private final AtomicReference<Successor> successor = new AtomicReference<>();
    private volatile boolean launcherLives = true;
    private final CannedProxy proxy = new CannedProxy(config(), Map.of()) {
        @Override
        public void release(Successor next) {
            successor.set(next);
        }

        @Override
        public void reopenStore() throws IOException {
            if (refusals.getAndDecrement() > 0) {
                throw new IOException("the lease is held");
            }
        }
    };
    private final StoreHandOver handOver =
            new StoreHandOver(message -> launcherLives && sent.add(message), commands, drains::incrementAndGet);

    private static ProxyConfig config() {
        return ProxyConfig.builder()
                .listen("127.0.0.1:0")
                .map("/", "http://origin.example")
                .build();
    }

    private boolean told(ControlMessage message) {
        return CompletableFuture.supplyAsync(() -> handOver.execute(message, proxy), commands)
                .join();
    }

    private boolean launcherGone() {
        launcherLives = false;
        return CompletableFuture.supplyAsync(() -> handOver.launcherGone(proxy), commands)
                .join();
    }

    @AfterEach
    void close() {
        commands.shutdownNow();
        proxy.close();
    }

    @Test
    void takesTheStoreBackAfterTheSuccessorEnds() {
        assertTrue(told(RELEASE));
        assertEquals(new ControlMessage.StoreReleased(), sent.remove());
        List<IOException> answers = new ArrayList<>();
        successor.get().apply(new byte[] {1}, answers::add);
        ControlMessage.Change change = (ControlMessage.Change) sent.remove();
        handOver.onChangeMade(new ControlMessage.ChangeMade(change.number(), "no disk"));
        assertEquals("no disk", answers.remove(0).getMessage());

        List<String> durable = new ArrayList<>();
        successor.get().apply(new byte[] {2}, failure -> durable.add(String.valueOf(failure)));
        sent.remove();
        refusals.set(2);
        assertTrue(told(new ControlMessage.ReopenStore()));
        await().until(() -> sent.contains(new ControlMessage.StoreReopened()));
        assertEquals(List.of("null"), durable, "the store here has it");
        assertEquals(0, drains.get());
    }

    @Test
    void aWorkerWithoutStoreTakesItBackWhenItsLauncherDies() {
        told(RELEASE);
        refusals.set(1);
        assertFalse(launcherGone(), "it serves on");
        await().until(() -> refusals.get() < 0);
    }

    @Test
    void aChangeThatCannotBePassedOnFails() {
        told(RELEASE);
        List<IOException> answers = new ArrayList<>();
        successor.get().apply(new byte[] {1}, answers::add);
        launcherGone();
        successor.get().apply(new byte[] {2}, answers::add);
        assertEquals(2, answers.size());
        answers.forEach(answer -> assertTrue(answer.getMessage().contains("launcher"), answer.getMessage()));
    }

    @Test
    void aSuccessorEndsUnlessTheTakeoverWasConfirmed() {
        handOver.prepareServing(true);
        assertTrue(launcherGone());
        told(new ControlMessage.TakeoverDone());
        assertFalse(launcherGone());
    }

    @Test
    void aChangeIsSentToThePredecessorAndAnsweredWhenThatHasAppliedIt() {
        CacheStore.Predecessor predecessor = handOver.prepareServing(true);
        CompletableFuture<?> first = predecessor.apply(new byte[] {1}).toCompletableFuture();
        CompletableFuture<?> second = predecessor.apply(new byte[] {2}).toCompletableFuture();
        ControlMessage.Change change = (ControlMessage.Change) sent.remove();
        assertArrayEquals(new byte[] {1}, change.content());
        assertFalse(first.isDone());
        handOver.onChangeMade(new ControlMessage.ChangeMade(change.number(), ""));
        assertTrue(first.isDone());
        ControlMessage.Change refused = (ControlMessage.Change) sent.remove();
        handOver.onChangeMade(new ControlMessage.ChangeMade(refused.number(), "too many removals wait"));
        assertFalse(second.isDone(), "the predecessor may still serve the object");
        assertTrue(told(new ControlMessage.PredecessorClosed()));
        assertTrue(second.isDone(), "it accepts no further request");
    }

    @Test
    void aWorkerWithoutPredecessorSendsNoChange() {
        assertNull(handOver.prepareServing(false));
    }

    @Test
    void aChangeForThePredecessorIsNotAwaitedAfterTheLauncherHasDied() {
        CacheStore.Predecessor predecessor = handOver.prepareServing(true);
        told(new ControlMessage.TakeoverDone());
        CompletableFuture<?> before = predecessor.apply(new byte[] {1}).toCompletableFuture();
        launcherGone();
        assertTrue(before.isDone());
        assertTrue(predecessor.apply(new byte[] {2}).toCompletableFuture().isDone());
    }

    /** The predecessor opens its store again, and has not seen the change. */
    @Test
    void aChangeAtASuccessorThatDoesNotTakeOverIsNotAnswered() {
        CacheStore.Predecessor predecessor = handOver.prepareServing(true);
        CompletableFuture<?> change = predecessor.apply(new byte[] {1}).toCompletableFuture();
        assertTrue(launcherGone());
        assertFalse(change.isDone());
    }

    @Test
    void aDrainingWorkerIsToldThatItsPredecessorIsClosed() {
        CacheStore.Predecessor predecessor = handOver.prepareServing(true);
        handOver.markDraining();
        CompletableFuture<?> change = predecessor.apply(new byte[] {1}).toCompletableFuture();
        assertFalse(told(RELEASE), "it releases nothing any more");
        assertTrue(told(new ControlMessage.PredecessorClosed()));
        assertTrue(change.isDone());
    }
}
