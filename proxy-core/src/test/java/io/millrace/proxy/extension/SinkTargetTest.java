package io.millrace.proxy.extension;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.event.EventSink;
import io.millrace.proxy.observe.log.LogTarget;
import io.millrace.proxy.spi.Extension;
import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.log.AccessLogSink;
import io.millrace.proxy.spi.log.AccessRecords;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests interrupts of calls that pass access records to an extension. */
class SinkTargetTest {
    private final CountDownLatch called = new CountDownLatch(1);

    /** Returns after an interrupt, and leaves its thread interrupted. */
    private final class Interrupted implements Extension, AccessLogSink {
        @Override
        public String name() {
            return "interrupted";
        }

        @Override
        public int apiVersion() {
            return API_VERSION;
        }

        @Override
        public void open(ExtensionContext context) {}

        @Override
        public void records(AccessRecords records) {
            called.countDown();
            while (!Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait();
            }
        }
    }

    private final ExtensionSet extensions = open();

    private ExtensionSet open() {
        try {
            return ExtensionSet.open(
                    List.of(ExtensionEntry.of(new Interrupted())), null, EventSink.NONE, () -> 0L, null);
        } catch (ExtensionException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void theEndOfATargetInterruptsTheCallOnly() throws Exception {
        LogTarget target = extensions.sink("interrupted", 1);
        CompletableFuture<Boolean> interruptedAfter = new CompletableFuture<>();
        Thread writer = new Thread(() -> {
            try {
                target.write(ByteBuffer.allocate(0));
                interruptedAfter.complete(Thread.currentThread().isInterrupted());
            } catch (Exception e) {
                interruptedAfter.completeExceptionally(e);
            }
        });
        writer.start();
        assertTrue(called.await(30, TimeUnit.SECONDS));
        target.close();
        assertFalse(interruptedAfter.get(30, TimeUnit.SECONDS));
        writer.join();
        extensions.close();
    }

    @Test
    void withoutACallNobodyIsInterrupted() {
        LogTarget target = extensions.sink("interrupted", 1);
        target.close();
        assertFalse(Thread.currentThread().isInterrupted());
        assertEquals(0, target.lostLines());
        extensions.close();
    }
}
