package io.millrace.proxy.observe.log.target;

import io.millrace.proxy.config.value.SyslogAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a syslog receiver and of the messages to it. Immutable.
 *
 * @param address transport, host and port
 * @param facility facility of each message
 * @param severity severity of each message
 * @param appName APP-NAME of each message: 1 to 48 printable ASCII characters without blanks
 * @param caFile certificates that may have signed the receiver's certificate, PEM; null for those of the JVM
 * @param certificate the proxy's certificate for the receiver, PEM; null for none
 * @param key private key of the certificate, PEM; null for none
 */
public record SyslogConfig(
        SyslogAddress address,
        SyslogFacility facility,
        SyslogSeverity severity,
        String appName,
        @Nullable Path caFile,
        @Nullable Path certificate,
        @Nullable Path key) {}
