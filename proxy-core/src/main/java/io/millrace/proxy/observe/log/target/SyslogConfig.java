package io.millrace.proxy.observe.log.target;

import io.millrace.proxy.config.value.SyslogAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The settings of an access log that is sent to a syslog receiver. Immutable.
 *
 * @param address transport, host and port
 * @param facility facility of all messages
 * @param severity severity of all messages
 * @param appName APP-NAME of all messages: 1 to 48 printable ASCII characters without blanks
 * @param caFile PEM file with trusted CA certificates for the receiver's certificate; null for the CA
 *     certificates of the JVM
 * @param certificate PEM file with the client certificate that the proxy presents; null for none
 * @param key PEM file with the private key of the client certificate; null for none
 */
public record SyslogConfig(
        SyslogAddress address,
        SyslogFacility facility,
        SyslogSeverity severity,
        String appName,
        @Nullable Path caFile,
        @Nullable Path certificate,
        @Nullable Path key) {}
