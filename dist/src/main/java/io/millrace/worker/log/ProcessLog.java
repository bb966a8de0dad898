package io.millrace.worker.log;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Configures java.util.logging for the program log of this process. Stateless. */
public final class ProcessLog {
    /** System properties by which operators configure java.util.logging themselves. */
    private static final List<String> CONFIGURED =
            List.of("java.util.logging.config.file", "java.util.logging.config.class", LoggerRegistry.PROPERTY);

    /** System properties with the configuration of Log4j, which earlier versions used for the program log. */
    private static final List<String> LOG4J = List.of("log4j2.configurationFile", "log4j.configurationFile");

    /**
     * The levels and the handler. Netty has the level WARNING, because its messages at start about missing fast paths
     * are not for operators.
     */
    private static final String CONFIGURATION =
            "handlers = " + ProcessLogHandler.class.getName() + "\n.level = INFO\nio.netty.level = WARNING\n";

    private ProcessLog() {}

    /**
     * Installs levels and handler, unless a system property configures java.util.logging. Must be called before the
     * first logger is created.
     */
    public static void install() {
        if (firstSet(CONFIGURED) == null) {
            System.setProperty(LoggerRegistry.PROPERTY, LoggerRegistry.class.getName());
            // A JVM agent, such as that of JMX, may have created another LogManager before. It is configured in the
            // same way, but removes the handler during the shutdown.
            configure(LogManager.getLogManager());
        }
        String ignored = firstSet(LOG4J);
        if (ignored != null) {
            LoggerFactory.getLogger(ProcessLog.class)
                    .warn(
                            "the system property {} has no effect, because the program log uses java.util.logging instead"
                                    + " of Log4j: set java.util.logging.config.file",
                            ignored);
        }
    }

    private static @Nullable String firstSet(List<String> properties) {
        for (String property : properties) {
            if (System.getProperty(property) != null) {
                return property;
            }
        }
        return null;
    }

    private static void configure(LogManager loggers) {
        try {
            loggers.readConfiguration(new ByteArrayInputStream(CONFIGURATION.getBytes(StandardCharsets.ISO_8859_1)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        // Creates the handler now. During the shutdown, java.util.logging creates none.
        Logger.getLogger("").getHandlers();
    }
}
