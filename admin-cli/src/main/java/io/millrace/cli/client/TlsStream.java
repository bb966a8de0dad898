package io.millrace.cli.client;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;

/** A TLS client connection over another stream. The deadline of that stream applies. Confined to one thread. Blocks. */
final class TlsStream implements ByteStream {
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final ByteStream link;
    private final SSLEngine engine;
    /** Received TLS records that were not decrypted yet, from position to limit. */
    private final ByteBuffer received;

    private final ByteBuffer outgoing;
    /** Decrypted content that the caller has not read yet, from position to limit. */
    private final ByteBuffer content;

    private TlsStream(ByteStream link, SSLEngine engine) {
        this.link = link;
        this.engine = engine;
        int record = engine.getSession().getPacketBufferSize();
        received = ByteBuffer.allocate(2 * record).flip();
        outgoing = ByteBuffer.allocate(record);
        content = ByteBuffer.allocate(2 * engine.getSession().getApplicationBufferSize())
                .flip();
    }

    /**
     * Performs the TLS handshake. The server's certificate must be valid for {@code host}.
     *
     * @param link the connection to use; the returned stream closes it
     * @throws SSLException if the handshake fails
     */
    static TlsStream connect(ByteStream link, SSLContext context, String host, int port) throws IOException {
        SSLEngine engine = context.createSSLEngine(host, port);
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        engine.setSSLParameters(parameters);
        TlsStream stream = new TlsStream(link, engine);
        engine.beginHandshake();
        stream.handshake();
        return stream;
    }

    private void handshake() throws IOException {
        HandshakeStatus status = engine.getHandshakeStatus();
        while (status != HandshakeStatus.FINISHED && status != HandshakeStatus.NOT_HANDSHAKING) {
            switch (status) {
                case NEED_WRAP -> wrap(EMPTY);
                case NEED_TASK -> runTasks();
                default -> {
                    if (!unwrap()) {
                        throw new SSLException("the connection was closed during the TLS handshake");
                    }
                }
            }
            status = engine.getHandshakeStatus();
        }
    }

    private void runTasks() {
        for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
            task.run();
        }
    }

    /** Encrypts bytes and sends the resulting records; without bytes sends pending handshake records. */
    private void wrap(ByteBuffer bytes) throws IOException {
        outgoing.clear();
        SSLEngineResult result = engine.wrap(bytes, outgoing);
        link.write(outgoing.flip());
        if (result.getStatus() == Status.CLOSED && bytes.hasRemaining()) {
            throw new EOFException("the server has closed the TLS connection");
        }
    }

    /**
     * Decrypts a complete record, or receives more bytes if there is none. Returns false at the end of the connection.
     */
    private boolean unwrap() throws IOException {
        content.compact();
        SSLEngineResult result;
        try {
            result = engine.unwrap(received, content);
        } catch (SSLException e) {
            sendAlert();
            throw e;
        } finally {
            content.flip();
        }
        return switch (result.getStatus()) {
            case OK -> true;
            case CLOSED -> false;
            case BUFFER_UNDERFLOW -> receive();
            case BUFFER_OVERFLOW -> throw new SSLException("a TLS record is longer than the protocol allows");
        };
    }

    /** Sends a pending TLS alert or close message. Failures are ignored. */
    private void sendAlert() {
        try {
            wrap(EMPTY);
        } catch (IOException e) {
            // The connection ends anyway; the caller reports the original failure, if there is one.
        }
    }

    private boolean receive() throws IOException {
        received.compact();
        int count;
        try {
            count = link.read(received);
        } finally {
            received.flip();
        }
        return count >= 0;
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            wrap(bytes);
        }
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        while (!content.hasRemaining()) {
            boolean isOpen = unwrap();
            // A server may start a key update or a new handshake at any time.
            handshake();
            if (!isOpen && !content.hasRemaining()) {
                return -1;
            }
        }
        int count = Math.min(into.remaining(), content.remaining());
        into.put(content.slice(content.position(), count));
        content.position(content.position() + count);
        return count;
    }

    @Override
    public boolean isOpen() {
        return link.isOpen();
    }

    @Override
    public void close() throws IOException {
        engine.closeOutbound();
        sendAlert();
        link.close();
    }
}
