package io.millrace.wasm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.wasm.abi.HeaderMap;
import io.millrace.wasm.abi.ModuleLog;
import io.millrace.wasm.callout.CalloutClient;
import io.millrace.wasm.callout.CalloutSettings;
import io.millrace.wasm.callout.OpenCalls;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the results that wait for a worker. */
class WorkQueueTest {
    private static final URI UPSTREAM = URI.create("http://127.0.0.1/");

    private final WorkQueue queue = new WorkQueue(3);
    private final WorkQueue.Inbox inbox = queue.inbox();

    /** Adds the result of a call without time, which is refused. Returns the number of the call. */
    private int refuse(OpenCalls calls) {
        HttpRequest request = HttpRequest.newBuilder(UPSTREAM).build();
        return calls.begin(request, WasmInstance.ROOT_CONTEXT, 0, 0);
    }

    /** A new instance must not wait behind the results of the calls of a discarded one. */
    @Test
    void aClearedInboxTakesLaterResultsOnly() {
        Canned.Context context = new Canned.Context();
        CalloutSettings settings = new CalloutSettings(Map.of(), 1_000_000_000L, 1);
        try (CalloutClient client = new CalloutClient(settings, context, new ModuleLog(context.log()))) {
            OpenCalls calls = new OpenCalls(
                    client,
                    WasmInstance.ROOT_CONTEXT,
                    (call, response) -> inbox.add(new WorkQueue.Result(call, response)));
            for (int i = 0; i < 3; i++) {
                assertEquals(i + 1, refuse(calls));
            }
            calls.cancelAll();
            inbox.clear();
            assertNull(queue.poll(inbox));
            int later = refuse(calls);
            WorkQueue.Result result = assertInstanceOf(WorkQueue.Result.class, queue.poll(inbox));
            assertEquals(later, result.call());
            inbox.close();
            assertEquals(later + 1, refuse(calls));
            assertNull(queue.poll(inbox), "after the end");
        }
    }

    /** Otherwise a worker under load serves one result for each new call, which may cause several further results. */
    @Test
    void messagesThatHaveBegunComeFirst() {
        TestCall first = new TestCall();
        TestCall second = new TestCall();
        HttpContext message = HttpContext.ofRequest(TestCall.REQUEST, true);
        assertTrue(queue.offer(first));
        assertTrue(inbox.add(new WorkQueue.CallEntry(second)));
        assertTrue(inbox.add(new WorkQueue.End(message)));
        assertEquals(new WorkQueue.CallEntry(second), queue.poll(inbox));
        assertEquals(new WorkQueue.End(message), queue.poll(inbox));
        assertEquals(new WorkQueue.CallEntry(first), queue.poll(inbox));
        assertNull(queue.poll(inbox));
    }

    /** Otherwise requests that are paused gather in one instance. */
    @Test
    void newCallsGoToTheWorkersInTurn() throws Exception {
        BlockingQueue<String> served = new LinkedBlockingQueue<>();
        List<Thread> workers = new ArrayList<>();
        try {
            for (String name : List.of("a", "b", "c")) {
                Thread worker = new Thread(() -> serve(queue.inbox(), entry -> served.add(name)));
                workers.add(worker);
                worker.start();
                awaitWaiting(worker);
            }
            List<String> order = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                assertTrue(queue.offer(new TestCall()));
                order.add(served.take());
                for (Thread worker : workers) {
                    awaitWaiting(worker);
                }
            }
            assertEquals(List.of("a", "b", "c", "a", "b", "c"), order);
        } finally {
            stop(workers);
        }
    }

    /** Otherwise the call waits until the worker has served its own entry, although another worker waits. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aCallDoesNotWaitForAWorkerWithAnEntryOfItsOwn(boolean isEntryFirst) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch callServed = new CountDownLatch(1);
        List<Thread> workers = new ArrayList<>();
        try {
            for (WorkQueue.Inbox own : List.of(inbox, queue.inbox())) {
                Thread worker = new Thread(() -> serve(own, entry -> {
                    if (entry instanceof WorkQueue.End) {
                        end.await();
                    } else {
                        callServed.countDown();
                    }
                }));
                workers.add(worker);
                worker.start();
                awaitWaiting(worker);
            }
            WorkQueue.End entry = new WorkQueue.End(HttpContext.ofRequest(TestCall.REQUEST, true));
            if (isEntryFirst) {
                assertTrue(inbox.add(entry));
                assertTrue(queue.offer(new TestCall()));
            } else {
                assertTrue(queue.offer(new TestCall()));
                assertTrue(inbox.add(entry));
            }
            Awaitility.await().until(() -> callServed.getCount() == 0);
        } finally {
            stop(workers);
        }
    }

    /** Otherwise a full worker refuses calls that others could serve. */
    @Test
    void aFullWorkerTakesCallsOnlyIfAllAreFull() {
        WorkQueue.Inbox other = queue.inbox();
        TestCall[] calls = {new TestCall(), new TestCall(), new TestCall()};
        for (TestCall call : calls) {
            assertTrue(queue.offer(call));
        }
        inbox.full(true);
        assertNull(queue.poll(inbox));
        assertTrue(inbox.add(new WorkQueue.CallEntry(calls[0])), "for a message in its instance");
        assertEquals(new WorkQueue.CallEntry(calls[0]), queue.poll(inbox));
        other.full(true);
        assertEquals(new WorkQueue.CallEntry(calls[0]), queue.poll(inbox), "which it refuses");
        other.full(false);
        assertNull(queue.poll(inbox));
        assertEquals(new WorkQueue.CallEntry(calls[1]), queue.poll(other));
        other.close();
        other.close();
        assertEquals(new WorkQueue.CallEntry(calls[2]), queue.poll(inbox), "there is no other");
    }

    @Test
    void newCallsDoNotWakeAFullWorker() throws Exception {
        BlockingQueue<String> served = new LinkedBlockingQueue<>();
        List<Thread> workers = new ArrayList<>();
        inbox.full(true);
        try {
            for (WorkQueue.Inbox own : List.of(inbox, queue.inbox())) {
                String name = own == inbox ? "full" : "other";
                Thread worker = new Thread(() -> serve(own, entry -> served.add(name)));
                workers.add(worker);
                worker.start();
                awaitWaiting(worker);
            }
            for (int i = 0; i < 3; i++) {
                assertTrue(queue.offer(new TestCall()));
                assertEquals("other", served.take());
            }
        } finally {
            stop(workers);
        }
    }

    private static void stop(List<Thread> workers) throws InterruptedException {
        for (Thread worker : workers) {
            worker.interrupt();
            worker.join();
        }
    }

    private static void awaitWaiting(Thread worker) {
        Awaitility.await().until(() -> worker.getState() == Thread.State.TIMED_WAITING);
    }

    /** The work for an entry. */
    private interface Work {
        void run(WorkQueue.Entry entry) throws InterruptedException;
    }

    private void serve(WorkQueue.Inbox own, Work work) {
        try {
            while (true) {
                queue.await(own, Long.MAX_VALUE);
                WorkQueue.Entry entry = queue.poll(own);
                if (entry != null) {
                    work.run(entry);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A call without effects. */
    private static final class TestCall implements RequestWorkers.Call {
        static final RequestCopy REQUEST =
                new RequestCopy("GET", "http", "a", "/", null, "HTTP/1.1", "", "", new HeaderMap(), true);

        @Override
        public HttpContext message() {
            return HttpContext.ofRequest(REQUEST, true);
        }

        @Override
        public void done() {}

        @Override
        public boolean isAbandoned() {
            return false;
        }

        @Override
        public void failed(Throwable cause) {}
    }
}
