package io.millrace.proxy.extension;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.extension.config.SectionConfig;
import io.millrace.proxy.spi.Extension;
import io.millrace.proxy.spi.ExtensionContext;
import java.util.ArrayDeque;
import java.util.ListResourceBundle;
import java.util.Queue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.Test;
import org.slf4j.event.EventRecordingLogger;
import org.slf4j.event.Level;
import org.slf4j.event.SubstituteLoggingEvent;
import org.slf4j.helpers.SubstituteLogger;

/** Tests that the messages of an extension reach the log of the proxy. */
class ExtensionLogTest {
    private final Queue<SubstituteLoggingEvent> events = new ArrayDeque<>();
    private final System.Logger log = new ExtensionServices.Log(
            new EventRecordingLogger(new SubstituteLogger("io.millrace.extension.hello", events, false), events));

    private static final class Plain implements Extension {
        @Override
        public int apiVersion() {
            return API_VERSION;
        }

        @Override
        public String name() {
            return "plain";
        }

        @Override
        public void open(ExtensionContext context) {}
    }

    /** The default of the JDK is java.util.logging, which an embedding application may not use. */
    @Test
    void anExtensionGetsTheLogOfTheProxyWithItsName() {
        ScheduledExecutorService threads = Executors.newSingleThreadScheduledExecutor();
        try {
            ExtensionEntry entry = new ExtensionEntry(
                    "hello", new Plain(), null, ExtensionEntry.DEADLINE_NANOS, SectionConfig.empty(), rule -> true);
            ExtensionServices services =
                    new ExtensionServices(entry, threads, new ExtensionReports(() -> 0, event -> {}));
            assertInstanceOf(ExtensionServices.Log.class, services.log());
            assertSame(services.log(), services.log());
        } finally {
            threads.shutdownNow();
        }
        assertEquals("io.millrace.extension.hello", log.getName());
    }

    @Test
    void everyLevelHasItsCounterpart() {
        assertLevel(Level.TRACE, System.Logger.Level.ALL);
        assertLevel(Level.TRACE, System.Logger.Level.TRACE);
        assertLevel(Level.DEBUG, System.Logger.Level.DEBUG);
        assertLevel(Level.INFO, System.Logger.Level.INFO);
        assertLevel(Level.WARN, System.Logger.Level.WARNING);
        assertLevel(Level.ERROR, System.Logger.Level.ERROR);
        log.log(System.Logger.Level.OFF, "nothing");
        assertFalse(log.isLoggable(System.Logger.Level.OFF));
        assertTrue(events.isEmpty());
    }

    private void assertLevel(Level expected, System.Logger.Level level) {
        assertTrue(log.isLoggable(level));
        log.log(level, "text");
        assertEvent(expected, "text");
    }

    private void assertEvent(Level level, String message) {
        SubstituteLoggingEvent event = events.remove();
        assertEquals(level, event.getLevel());
        assertEquals(message, event.getMessage());
        assertNull(event.getThrowable());
        assertTrue(events.isEmpty());
    }

    @Test
    void parametersAreInserted() {
        log.log(System.Logger.Level.INFO, "{0} of {1}", "one", "two");
        assertEvent(Level.INFO, "one of two");
        log.log(System.Logger.Level.INFO, () -> "made {} on demand");
        assertEvent(Level.INFO, "made {} on demand");
        log.log(System.Logger.Level.INFO, "{a} of {1}", "one");
        assertEvent(Level.INFO, "{a} of {1}");
    }

    @Test
    void anExceptionIsPassedOn() {
        IllegalStateException fault = new IllegalStateException("bad");
        log.log(System.Logger.Level.ERROR, "failed", fault);
        SubstituteLoggingEvent event = events.remove();
        assertEquals("failed", event.getMessage());
        assertSame(fault, event.getThrowable());
    }

    @Test
    void messagesAreTranslated() {
        ListResourceBundle bundle = new ListResourceBundle() {
            @Override
            protected Object[][] getContents() {
                return new Object[][] {{"greeting", "good {0}"}};
            }
        };
        log.log(System.Logger.Level.INFO, bundle, "greeting", "morning");
        assertEvent(Level.INFO, "good morning");
        log.log(System.Logger.Level.INFO, bundle, "other");
        assertEvent(Level.INFO, "other");
    }
}
