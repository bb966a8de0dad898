package io.millrace.launcher.fleet.config;

import java.io.IOException;

/** The user of this node lacks a permission on the NATS servers that the shared configuration needs. */
public final class MissingPermissionException extends IOException {
    private static final long serialVersionUID = 1;

    /** @param text the permission and the remedy */
    public MissingPermissionException(String text, IOException cause) {
        super(text, cause);
    }
}
