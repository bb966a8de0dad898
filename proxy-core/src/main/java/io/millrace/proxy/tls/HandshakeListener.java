package io.millrace.proxy.tls;

import io.millrace.proxy.net.ClientConnection;

/** Receives the result of each TLS handshake with a client. Called on the connection's event loop. */
public interface HandshakeListener {
    /** The reasons why a handshake failed. */
    enum Failure {
        /** There is no certificate for the name that the client requested. */
        UNKNOWN_NAME,
        /** The client sent no certificate, or an invalid certificate. */
        CLIENT_CERTIFICATE,
        /** There is no common version, cipher suite or group. */
        NOTHING_IN_COMMON,
        /** The client closed the connection, or sent an alert. */
        CLIENT,
        /** The handshake exceeded its time limit. */
        TIMEOUT,
        /** The received bytes are not TLS, or violate the protocol. */
        PROTOCOL
    }

    /** Called after a successful handshake, when the connection is ready. */
    void succeeded(ClientConnection.Tls agreed);

    /** Called after a failed handshake. The connection is closed. */
    void failed(Failure failure);
}
