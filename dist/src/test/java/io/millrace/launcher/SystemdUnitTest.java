package io.millrace.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Tests which system calls of those that change a process's resources the unit allows, by the rules of systemd.exec(5).
 */
class SystemdUnitTest {
    private static final Path UNIT = Path.of("src/main/dist/share/systemd/millrace.service");
    private static final String FILTER = "SystemCallFilter=";

    /** As listed by {@code systemd-analyze syscall-filter @resources}; {@code @system-service} contains all of them. */
    private static final Set<String> RESOURCES = Set.of(
            "ioprio_set",
            "mbind",
            "migrate_pages",
            "move_pages",
            "nice",
            "sched_setaffinity",
            "sched_setattr",
            "sched_setparam",
            "sched_setscheduler",
            "set_mempolicy",
            "set_mempolicy_home_node",
            "setpriority",
            "setrlimit");

    private static Set<String> allowed() throws IOException {
        Set<String> allowed = new TreeSet<>();
        for (String line : Files.readAllLines(UNIT)) {
            if (line.startsWith(FILTER)) {
                String value = line.substring(FILTER.length());
                List<String> words = List.of(value.replaceFirst("^~", "").split(" ", -1));
                for (String word : words) {
                    Set<String> calls =
                            word.equals("@resources") || word.equals("@system-service") ? RESOURCES : Set.of(word);
                    if (value.startsWith("~")) {
                        allowed.removeAll(calls);
                    } else {
                        allowed.addAll(calls);
                    }
                }
            }
        }
        allowed.retainAll(RESOURCES);
        return allowed;
    }

    /**
     * With {@code -XX:+UseNUMA}, and with ZGC on NUMA machines, the JVM places its memory (mbind(2), set_mempolicy(2)).
     */
    @Test
    void aWorkerMayPlaceItsMemoryAndRecordItsClassesAtTheLowestPriority() throws IOException {
        assertEquals(Set.of("mbind", "move_pages", "set_mempolicy", "setpriority"), allowed());
    }
}
