package io.millrace.worker.log;

import java.util.logging.LogManager;

/**
 * A LogManager that keeps its handlers and levels until the process ends. The shutdown hook of {@link LogManager} would
 * otherwise reset them, and later messages of the shutdown would be lost. Thread-safe. The JVM creates the only
 * instance.
 */
public final class LoggerRegistry extends LogManager {
    /** System property with the class of the LogManager. */
    static final String PROPERTY = "java.util.logging.manager";

    /** Created by the JVM. */
    public LoggerRegistry() {}

    /** Does nothing. {@link ProcessLog} supplies the configuration, so the file of the JDK need not be read. */
    @Override
    public void readConfiguration() {}

    /** Does nothing, so that the shutdown hook has no effect. */
    @Override
    public void reset() {}
}
