package org.ldptrace.device;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.Charset;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECFieldFp;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.KeyAgreement;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** Sealed reports of shuffled plans: HPKE (RFC 9180), base mode, one message per key, P-256, HKDF-SHA256, AES-128-GCM. */
final class Seals {
    static final int POINT_BYTES = 65;
    static final int SEAL_BYTES = POINT_BYTES + 16;
    private static final int TAG_BITS = 128;
    private static final byte[] NAME = latin("ldptrace\u0002");
    private static final byte[] DRAFT = latin("HPKE-v1");
    private static final byte[] KEM = latin("KEM\u0000\u0010");
    private static final byte[] SUITE = latin("HPKE\u0000\u0010\u0000\u0001\u0000\u0001");
    private static final byte[] NOTHING = {};

    private Seals() {}

    private static byte[] latin(String text) {
        return text.getBytes(Charset.forName("ISO-8859-1"));
    }

    /** What every seal of a plan is bound to: the protocol's name and version, and the plan's id. */
    static byte[] info(String planId) {
        return joined(NAME, Bytes.ofHex(planId));
    }

    /** The label that stands outside a seal and is bound to it: the window, or nothing if it is null. */
    static byte[] label(Long window) {
        if (window == null) {
            return NOTHING;
        }
        return new byte[] {(byte) (window >> 24), (byte) (window >> 16), (byte) (window >> 8), (byte) (long) window};
    }

    /** The sealed bytes of a report for the holder of a private key. The public key and `info` come from the plan. */
    static byte[] seal(byte[] point, byte[] info, byte[] label, byte[] report) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"), new SecureRandom());
            return sealWith(generator.generateKeyPair(), point, info, label, report);
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("every Java platform has P-256, HMAC and AES-GCM", missing);
        }
    }

    /** The same with a given fresh key pair, which must be used once. */
    static byte[] sealWith(KeyPair fresh, byte[] point, byte[] info, byte[] label, byte[] report)
            throws GeneralSecurityException {
        byte[] mine = encoded((ECPublicKey) fresh.getPublic());
        Cipher cipher = cipher(Cipher.ENCRYPT_MODE, fresh.getPrivate(), publicKey(point), joined(mine, point), info, label);
        return joined(mine, cipher.doFinal(report));
    }

    /** The cipher whose key two keys agree on; `context` is the sender's public key and the recipient's. */
    static Cipher cipher(int mode, PrivateKey own, PublicKey other, byte[] context, byte[] info, byte[] label)
            throws GeneralSecurityException {
        KeyAgreement agreement = KeyAgreement.getInstance("ECDH");
        agreement.init(own);
        agreement.doPhase(other, true);
        byte[] shared = expand(extract(NOTHING, KEM, "eae_prk", agreement.generateSecret()), KEM, "shared_secret", context, 32);
        byte[] hashes = joined(extract(NOTHING, SUITE, "psk_id_hash", NOTHING), extract(NOTHING, SUITE, "info_hash", info));
        byte[] schedule = joined(new byte[1], hashes);
        byte[] secret = extract(shared, SUITE, "secret", NOTHING);
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        SecretKeySpec key = new SecretKeySpec(expand(secret, SUITE, "key", schedule, 16), "AES");
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, expand(secret, SUITE, "base_nonce", schedule, 12)));
        cipher.updateAAD(label);
        return cipher;
    }

    /** The key of an uncompressed point; an error if it is not on the curve. */
    static ECPublicKey publicKey(byte[] point) throws GeneralSecurityException {
        if (!isPoint(point)) {
            throw new GeneralSecurityException("a public key is an uncompressed point of P-256");
        }
        ECPublicKeySpec key = new ECPublicKeySpec(new ECPoint(half(point, 1), half(point, 33)), curve());
        return (ECPublicKey) KeyFactory.getInstance("EC").generatePublic(key);
    }

    /** Whether these bytes are an uncompressed point of the curve. */
    static boolean isPoint(byte[] point) throws GeneralSecurityException {
        if (point.length != POINT_BYTES || point[0] != 4) {
            return false;
        }
        ECParameterSpec curve = curve();
        BigInteger prime = ((ECFieldFp) curve.getCurve().getField()).getP();
        BigInteger x = half(point, 1);
        BigInteger y = half(point, 33);
        BigInteger right = x.pow(3).add(curve.getCurve().getA().multiply(x)).add(curve.getCurve().getB());
        return x.max(y).compareTo(prime) < 0 && y.multiply(y).subtract(right).mod(prime).signum() == 0;
    }

    static ECParameterSpec curve() throws GeneralSecurityException {
        // Android 5 has no other way to a curve by its name.
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        return ((ECPublicKey) generator.generateKeyPair().getPublic()).getParams();
    }

    private static byte[] encoded(ECPublicKey key) {
        byte[] point = new byte[POINT_BYTES];
        point[0] = 4;
        put(key.getW().getAffineX(), point, 33);
        put(key.getW().getAffineY(), point, 65);
        return point;
    }

    /** A number as 32 bytes that end before a place. */
    private static void put(BigInteger number, byte[] point, int end) {
        byte[] bytes = number.toByteArray();
        int size = Math.min(bytes.length, 32);
        System.arraycopy(bytes, bytes.length - size, point, end - size, size);
    }

    private static BigInteger half(byte[] point, int begin) {
        return new BigInteger(1, Arrays.copyOfRange(point, begin, begin + 32));
    }

    private static byte[] extract(byte[] salt, byte[] suite, String label, byte[] material) throws GeneralSecurityException {
        return hmac(salt, joined(DRAFT, suite, latin(label), material));
    }

    /** At most 32 bytes, so that one block is enough. */
    private static byte[] expand(byte[] key, byte[] suite, String label, byte[] info, int size) throws GeneralSecurityException {
        byte[] text = joined(new byte[] {0, (byte) size}, DRAFT, suite, latin(label), info, new byte[] {1});
        return Arrays.copyOf(hmac(key, text), size);
    }

    private static byte[] hmac(byte[] key, byte[] text) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        // Java refuses an empty key; zeros of the hash's size are the same key.
        mac.init(new SecretKeySpec(key.length == 0 ? new byte[32] : key, "HmacSHA256"));
        return mac.doFinal(text);
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            whole.write(part, 0, part.length);
        }
        return whole.toByteArray();
    }
}
