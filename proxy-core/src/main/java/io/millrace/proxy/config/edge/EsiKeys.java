package io.millrace.proxy.config.edge;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import java.time.Duration;

/** Configuration keys for the assembly of pages (ESI). Remap rules can override those in the section {@code esi}. */
public final class EsiKeys {
    /** The section. */
    public static final String SECTION = "esi";

    public static final ConfigKey<Boolean> ENABLED = ConfigKey.builder("esi.enabled", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .description("Whether documents with ESI markup are assembled for clients. A section esi without this key"
                    + " turns it on, even if it is empty.");
    public static final ConfigKey<EsiConfig.When> WHEN = ConfigKey.builder(
                    "esi.when", ValueType.word(EsiConfig.When.class, false))
            .defaultsTo(EsiConfig.When.SURROGATE_CONTROL)
            .perRule()
            .description("Which responses are documents: surrogate_control for those with Surrogate-Control:"
                    + " content=\"ESI/1.0\", always for these and all of type text/html.");
    public static final ConfigKey<Integer> MAX_DEPTH = ConfigKey.builder("esi.max_depth", ValueType.INTEGER)
            .within(1, 10)
            .defaultsTo(3)
            .perRule()
            .description("Levels of fragments: 1 permits fragments in a page, 2 also fragments in these. An include in"
                    + " the last level fails.");
    public static final ConfigKey<Integer> MAX_INCLUDES = ConfigKey.builder("esi.max_includes", ValueType.INTEGER)
            .within(1, 10_000)
            .defaultsTo(256)
            .perRule()
            .description("Maximum of fragments that are requested for one page, on all levels.");
    public static final ConfigKey<Long> MAX_DOCUMENT_SIZE = ConfigKey.builder("esi.max_document_size", ValueType.SIZE)
            .within(1024L, 4L << 20)
            .defaultsTo(1L << 20)
            .perRule()
            .description("Longest document that is parsed; a longer one fails. The parser does not yield the"
                    + " event loop, so the bound is low.");
    public static final ConfigKey<Long> MAX_PAGE_SIZE = ConfigKey.builder("esi.max_page_size", ValueType.SIZE)
            .within(1024L, 256L << 20)
            .defaultsTo(4L << 20)
            .perRule()
            .description("Longest page: the bytes of its documents and fragments together, which are held in memory"
                    + " until the page is complete.");
    public static final ConfigKey<Duration> INCLUDE_TIMEOUT = ConfigKey.builder(
                    "esi.include_timeout", ValueType.DURATION)
            .within(Duration.ofMillis(10), Duration.ofMinutes(5))
            .defaultsTo(Duration.ofSeconds(10))
            .perRule()
            .description("Longest time until a fragment is complete, with the fragments in it.");

    public static final ConfigKey<Long> MEMORY = ConfigKey.builder("limits.memory_esi", ValueType.SIZE)
            .within(64L << 10, 1L << 40)
            .orZero()
            .defaultsTo(0L)
            .description("Limit of the bytes that all pages in assembly (ESI) hold in the Java heap together; beyond"
                    + " it, pages get 503. 0 means an eighth of the heap (worker.heap_size).");

    private EsiKeys() {}

    /** Returns true if assembly is on when this key is set and {@link #ENABLED} is not. */
    public static boolean turnsOn(ConfigKey<?> key) {
        return key.path().startsWith(SECTION + ".");
    }
}
