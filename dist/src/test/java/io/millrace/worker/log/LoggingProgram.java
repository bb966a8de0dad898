package io.millrace.worker.log;

import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.logging.LogManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A program that logs as launcher and worker do, also in a shutdown hook. */
final class LoggingProgram {
    private LoggingProgram() {}

    public static void main(String[] arguments) {
        ProcessLog.install();
        Logger log = LoggerFactory.getLogger("io.millrace.Program");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            // The shutdown hook of java.util.logging does this, before or after this hook.
            LogManager.getLogManager().reset();
            log.info("in a shutdown hook");
        }));
        log.debug("debug");
        log.info("info");
        InternalLoggerFactory.getInstance("io.netty.Loop").info("info of Netty");
        InternalLoggerFactory.getInstance("io.netty.Loop").warn("warning of Netty");
        LoggerFactory.getLogger("com.example.Library").error("error of a library");
        System.getLogger("io.millrace.Jdk").log(System.Logger.Level.INFO, "info of the JDK");
    }
}
