package io.millrace.wasm.abi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests that names which clients choose cannot silence or forge messages. */
class ModuleLogTest {
    /** A log that keeps its messages. */
    private static final class Kept implements System.Logger {
        private final List<String> messages = new ArrayList<>();

        @Override
        public String getName() {
            return "kept";
        }

        @Override
        public boolean isLoggable(Level level) {
            return true;
        }

        @Override
        public void log(Level level, @Nullable ResourceBundle bundle, String message, @Nullable Throwable thrown) {
            messages.add(message);
        }

        @Override
        public void log(Level level, @Nullable ResourceBundle bundle, String format, Object @Nullable ... params) {
            messages.add(format);
        }
    }

    private final Kept kept = new Kept();
    private final ModuleLog log = new ModuleLog(kept);

    @Test
    void manyNamesOfAKindDoNotSilenceOthers() {
        for (int i = 0; i < 2000; i++) {
            log.onceFor("upstream", "unknown", "client" + i);
        }
        assertEquals(50, kept.messages.size());
        log.onceFor("field", "cannot be changed", "a");
        log.once("tick", "a tick has failed");
        assertEquals(List.of("cannot be changed: a", "a tick has failed"), kept.messages.subList(50, 52));
    }

    @Test
    void namesAreCutAndCannotForgeLines() {
        log.onceFor("upstream", "unknown", "a\r\nb");
        log.onceFor("upstream", "unknown", "c".repeat(64) + "1");
        log.onceFor("upstream", "unknown", "c".repeat(64) + "2");
        log.once("tick", "failed\n" + "d".repeat(5000));
        assertEquals(
                List.of("unknown: a??b", "unknown: " + "c".repeat(64) + "...", "failed?" + "d".repeat(4089) + "..."),
                kept.messages);
    }
}
