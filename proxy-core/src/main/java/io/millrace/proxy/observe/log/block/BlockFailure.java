package io.millrace.proxy.observe.log.block;

import java.io.IOException;

/** Reports a block whose contents are invalid. Has no stack trace, because the file is the cause. */
public final class BlockFailure extends IOException {
    private static final long serialVersionUID = 1L;

    BlockFailure(String message) {
        super(message);
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
