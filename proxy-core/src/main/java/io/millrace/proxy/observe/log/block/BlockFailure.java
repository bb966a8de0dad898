package io.millrace.proxy.observe.log.block;

/** Reports a block whose contents are invalid. Has no stack trace, because the file is the cause. */
public final class BlockFailure extends Exception {
    private static final long serialVersionUID = 1L;

    BlockFailure(String message) {
        super(message, null, false, false);
    }
}
