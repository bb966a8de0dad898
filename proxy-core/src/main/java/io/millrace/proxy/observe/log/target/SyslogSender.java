package io.millrace.proxy.observe.log.target;

import io.millrace.proxy.config.value.SyslogAddress;
import java.io.IOException;

/** Sends single syslog messages, each over its own connection. Stateless. */
public final class SyslogSender {
    private SyslogSender() {}

    /**
     * Sends one message (RFC 5424). Blocks for at most some seconds. A message over UDP is lost without an error if
     * nobody receives it.
     *
     * @param message header and text in UTF-8, without a line feed; cut at {@link MessageTarget#SYSLOG_BYTES_MAX}
     * @throws IOException if the receiver cannot be reached, or its certificate is not trusted
     */
    public static void send(SyslogConfig config, byte[] message) throws IOException {
        MessageSender sender = config.address().protocol() == SyslogAddress.Protocol.UDP
                ? new SyslogDatagrams(config.address())
                : new SyslogStream(config);
        try {
            sender.open();
            sender.send(message, 0, Math.min(message.length, MessageTarget.SYSLOG_BYTES_MAX));
            sender.flush();
        } finally {
            sender.close();
        }
    }
}
