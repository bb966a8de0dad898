package io.millrace.proxy.exchange.forward;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.millrace.proxy.fetch.OriginCall;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the content of mirrored requests. */
class MirrorTest {
    /** Records its calls; some of them fail. */
    private static final class FailingCall implements OriginCall {
        private final List<String> calls = new ArrayList<>();
        private final String fault;

        FailingCall(String fault) {
            this.fault = fault;
        }

        private void record(String name) {
            calls.add(name);
            if (name.equals(fault)) {
                throw new IllegalStateException(name);
            }
        }

        @Override
        public void write(ByteBuf content) {
            content.release();
            record("write");
        }

        @Override
        public void finishRequest() {
            record("finish");
        }

        @Override
        public boolean isRequestWritable() {
            return true;
        }

        @Override
        public void pauseReading() {
            record("pause");
        }

        @Override
        public void resumeReading() {
            record("resume");
        }

        @Override
        public void cancel() {
            record("cancel");
        }
    }

    @Test
    void aCallWhoseContentCannotBeWrittenIsCancelled() {
        FailingCall writing = new FailingCall("write");
        assertThrows(IllegalStateException.class, () -> Mirror.finish(writing, new byte[1]));
        assertEquals(List.of("write", "cancel"), writing.calls);
        FailingCall finishing = new FailingCall("finish");
        assertThrows(IllegalStateException.class, () -> Mirror.finish(finishing, new byte[0]));
        assertEquals(List.of("finish", "cancel"), finishing.calls);
    }

    @Test
    void contentIsWrittenOnce() {
        FailingCall call = new FailingCall("none");
        Mirror.finish(call, new byte[2]);
        assertEquals(List.of("write", "finish"), call.calls);
    }
}
