package io.millrace.proxy.tls;

import io.millrace.proxy.net.ClientConnection;

/** Is told how each TLS handshake with a client ends. Called on the connection's event loop. */
public interface HandshakeListener {
    /** Why a handshake failed. */
    enum Failure {
        /** No certificate for the name that the client asked for. */
        UNKNOWN_NAME,
        /** The client showed no certificate, or one that is not valid. */
        CLIENT_CERTIFICATE,
        /** No common version, cipher suite or group. */
        NOTHING_IN_COMMON,
        /** The client closed the connection, or refused with an alert. */
        CLIENT,
        /** It was not done within the time for it. */
        TIMEOUT,
        /** The received bytes are not TLS, or break its rules. */
        PROTOCOL
    }

    /** The connection is ready. */
    void succeeded(ClientConnection.Tls agreed);

    /** The connection is closed. */
    void failed(Failure failure);
}
